"""nbgrader with trusted scoring: released notebooks, a course, points for what was measured."""
