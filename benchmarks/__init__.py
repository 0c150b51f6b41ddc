"""This project's own speed, as figures with their circumstances: `make bench`, or `python -m benchmarks`."""
