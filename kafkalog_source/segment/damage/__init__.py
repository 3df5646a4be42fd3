"""Damage in a segment of format v0 to v2: what is wrong, how far it extends, and which offsets are lost."""
