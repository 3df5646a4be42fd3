"""The README's code blocks, run as a reader would run them."""
