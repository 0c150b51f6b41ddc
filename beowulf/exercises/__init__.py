"""What the labs' exercises measure of a learner's own: programs, captures and counts, each kept as a Record."""
