"""Grades submissions: points are computed outside of the kernel and written into nbgrader's database."""
