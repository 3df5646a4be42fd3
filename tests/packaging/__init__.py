"""What is shipped: the wheel, an installed wheel at work, and the files of the project themselves."""
