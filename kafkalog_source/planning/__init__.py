"""From options and a listing to splits."""
