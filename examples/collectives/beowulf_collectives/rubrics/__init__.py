"""A rubric for each lab of this package."""
