"""A learner's notebook runs here: a box without a network, a kernel in it, a process that forks new ones."""
