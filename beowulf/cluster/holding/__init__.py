"""One process at a time measures on a cluster or changes it; others wait in a queue."""
