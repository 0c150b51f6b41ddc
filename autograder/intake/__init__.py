"""Submissions come in: from nbgrader's exchange, a folder or an archive of an LMS."""
