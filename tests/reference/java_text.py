"""UTF-8 decoded as by Java's ``new String(bytes, UTF_8)``."""

from __future__ import annotations

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def java_utf8(data: bytes) -> str:
    """Decode; each malformed part becomes one replacement character.

    A malformed part is the longest prefix of a well-formed sequence, or one byte.
    Python agrees except for surrogates: the three bytes of an encoded surrogate are
    one malformed part in Java and three in Python.
    """
    out, at = [], 0
    while at < len(data):
        size, whole = _sequence(data, at)
        piece = data[at : at + size]
        out.append(piece.decode("utf-8", "replace") if whole else REPLACEMENT)
        at += size
    return "".join(out)


def _sequence(data: bytes, at: int) -> tuple[int, bool]:
    """Return the length of the sequence or malformed part at `at`, and whether it is a character."""
    lead = data[at]
    if lead < 0x80:
        return 1, True
    if not 0xC2 <= lead <= 0xF4:
        return 1, False
    need = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    low = {0xE0: 0xA0, 0xF0: 0x90}.get(lead, 0x80)
    high = 0x8F if lead == 0xF4 else 0xBF
    size = 1
    while size < need and at + size < len(data) and low <= data[at + size] <= high:
        size, low, high = size + 1, 0x80, 0xBF
    is_surrogate = lead == 0xED and size == 3 and data[at + 1] >= 0xA0
    return size, size == need and not is_surrogate
