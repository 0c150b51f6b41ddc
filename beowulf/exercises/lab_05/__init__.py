"""What lab 05's exercises measure."""
