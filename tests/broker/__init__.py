"""A real broker, and logs that it is at work on."""
