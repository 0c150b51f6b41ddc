"""Lab 07: the studies that it brings in, and what its exercises measure."""
