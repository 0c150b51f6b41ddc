"""A course: its folder, its learners, the notebooks that it releases."""
