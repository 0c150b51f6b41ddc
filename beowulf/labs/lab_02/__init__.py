"""Lab 02: the studies that it brings in, and what its exercises measure."""
