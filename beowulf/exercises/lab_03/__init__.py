"""What lab 03's exercises measure."""
