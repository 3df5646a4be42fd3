"""The traps of the on-disk formats, each named by the behaviour that avoids it."""
