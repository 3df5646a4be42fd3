"""What a read does about damage, and the report of what it met."""
