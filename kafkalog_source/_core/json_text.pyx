# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The one kind of JSON value that the core leaves to Python: floating-point numbers, of which few records have any."""

from decimal import Decimal


def java_double(double value):
    """JSON of a number as ``Double.toString`` writes it; those that JSON lacks are strings."""
    if value != value:
        return '"NaN"'
    if value in (float("inf"), float("-inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent if value else 1
    if value and not 1e-3 <= abs(value) < 1e7:
        number = f"{text[0]}.{text[1:] or '0'}E{point - 1}"
    elif point <= 0:
        number = f"0.{'0' * -point}{text}"
    else:
        number = f"{text[:point].ljust(point, '0')}.{text[point:] or '0'}"
    return "-" + number if sign else number


cdef bint put_double(Text* json, double value) noexcept with gil:
    cdef bytes text = java_double(value).encode()
    return put_raw(json, <const char*>text, len(text))
