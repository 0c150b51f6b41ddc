"""Measuring the knobs."""
