"""What lab 07's exercises measure."""
