"""PCs and VMs, which `beowulf setup` makes a cluster and which are reached by ssh."""
