"""What lab 02's exercises measure."""
