class Messages:
    """The messages of a v0 or v1 set, used only by the core."""
