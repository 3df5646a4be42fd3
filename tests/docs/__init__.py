"""The code blocks of README.md and docs/, run as a reader would run them, and what their tables and links promise."""
