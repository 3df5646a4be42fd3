"""A stream over log directories: where it stands, how far it can go, and how much a micro-batch takes."""
