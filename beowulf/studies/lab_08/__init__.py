"""The studies that a learner meets first in lab 08."""
