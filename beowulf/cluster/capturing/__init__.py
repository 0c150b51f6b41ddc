"""Packets are taken: one dumpcap an interface, and what they give in one file."""
