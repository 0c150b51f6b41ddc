"""What lab 01's exercises measure."""
