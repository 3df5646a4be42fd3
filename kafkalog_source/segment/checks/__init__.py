"""Checks of a whole segment: headers and checksums, all records, and a broker's recovery after a crash."""
