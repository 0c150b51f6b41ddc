"""Names of this machine, for where namespaces are forbidden."""
