"""What lab 04's exercises measure."""
