"""This machine and who works on it: its load, its browser, its terminal, its user."""
