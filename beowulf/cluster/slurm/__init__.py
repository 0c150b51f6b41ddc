"""Nodes that Slurm gives to one learner at a time."""
