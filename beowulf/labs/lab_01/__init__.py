"""Lab 01: the studies that it brings in, and what its exercises measure."""
