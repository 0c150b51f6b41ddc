"""What others published and a learner runs whole: benchmark suites and an application."""
