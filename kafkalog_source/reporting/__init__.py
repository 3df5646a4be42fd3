"""How a read treats damage, and the report of a read."""
