"""What lab 08's exercises measure and simulate."""
