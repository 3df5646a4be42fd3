class Messages:
    """The messages of a v0 or v1 set; the core alone looks into it."""
