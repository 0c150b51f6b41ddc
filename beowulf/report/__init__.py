"""A learner's report: what their Records came to beside what the papers published, as a page and plain data."""
