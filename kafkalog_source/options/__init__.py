"""The options of a read: names, values, and what goes together."""
