"""Nodes and links that SimGrid simulates."""
