"""Submissions are graded: points found outside of the kernel, written into nbgrader's database."""
