"""The options of a read: their names, values and valid combinations."""
