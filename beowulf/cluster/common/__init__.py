"""What several kinds of cluster share: shells, processes, a plan, the environment of a node."""
