"""Checks of a whole segment: headers and checksums, all records, and what a broker keeps after a crash."""
