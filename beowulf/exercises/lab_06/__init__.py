"""What lab 06's exercises measure."""
