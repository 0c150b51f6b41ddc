"""What all studies share: sweeps, launches, statistics, from a program's raw lines to a Record."""
