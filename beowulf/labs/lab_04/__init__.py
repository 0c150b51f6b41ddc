"""Lab 04: the studies that it brings in, and what its exercises measure."""
