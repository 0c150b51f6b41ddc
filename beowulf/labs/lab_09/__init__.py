"""Lab 09: the studies that it brings in, and what its exercises measure."""
