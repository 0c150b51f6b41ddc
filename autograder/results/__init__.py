"""What comes out of grading: feedback for a learner, grades for an LMS, a report for an instructor."""
