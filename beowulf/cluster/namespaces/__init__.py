"""The default kind: nodes made of Linux namespaces on this machine."""
