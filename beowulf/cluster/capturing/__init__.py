"""Captures packets: one dumpcap for each interface, and one file for all their packets."""
