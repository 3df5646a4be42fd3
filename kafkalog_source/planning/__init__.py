"""Plans a read: from options and a listing to splits."""
