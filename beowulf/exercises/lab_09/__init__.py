"""What lab 09's exercises simulate."""
