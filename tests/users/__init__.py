"""Three users and what they type: each module is one of them, and reads as a session."""
