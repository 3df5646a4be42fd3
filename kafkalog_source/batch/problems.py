"""The sentence for each code of the core: what is wrong, and what was expected."""

from __future__ import annotations

from kafkalog_source._core.codes import NAMES
from kafkalog_source.format import V0_MIN_LENGTH, V07_MIN_LENGTH, V1_MIN_LENGTH, V2_MIN_LENGTH, V2_MIN_RECORD_SIZE

_PROBLEMS: dict[str, tuple[str, str | None]] = {
    "incomplete": ("the batch continues past the end of the data", "a complete batch"),
    "no_memory": ("out of memory for the batch, or a column would exceed 2 GiB", None),
    "bad_length": (
        "the batch's length field is too small",
        f"at least {V0_MIN_LENGTH} (v0), {V1_MIN_LENGTH} (v1) or {V2_MIN_LENGTH} (v2) bytes",
    ),
    "bad_magic": ("the magic byte is invalid", "0, 1 or 2"),
    "bad_last_offset_delta": ("the batch's last offset delta is out of range", "0 to 2147483647"),
    "offset_not_rising": ("the offset is not above that of the previous batch", "increasing offsets"),
    "offset_below_file": (
        "the offset is below the segment's base offset",
        "the base offset in the file's name or above",
    ),
    "offset_above_file": (
        "the offset reaches into the next segment's range",
        "offsets below the next segment's base offset",
    ),
    "bad_count": ("the batch's record count is negative", "0 or more"),
    "bad_codec": (
        "the batch's codec does not exist in its format",
        "0 to 3 (v0, v1) or 0 to 4 (v2)",
    ),
    "bad_crc": ("the batch's checksum is wrong", None),
    "count_too_large": (
        "the batch claims more records than its bytes can hold",
        f"at least {V2_MIN_RECORD_SIZE} bytes per record",
    ),
    "bytes_left_over": ("bytes are left over after the batch's last record", "no bytes after the last record"),
    "record_cut": ("the batch's body ends before its last record", "as many records as the header's count"),
    "record_length": ("a record's length does not match its content", "the total size of its fields"),
    "record_offset": (
        "a record's offset does not increase or is outside its batch",
        "increasing offsets from the batch's base offset to its last offset",
    ),
    "key_length": (
        "a key's length exceeds its record",
        "a length within the record, or a negative one for null",
    ),
    "value_length": (
        "a value's length exceeds its record",
        "a length within the record, or a negative one for null",
    ),
    "header_count": ("a record's header count is invalid", "0 up to what the record's bytes can hold"),
    "header_name": (
        "a header's name is null or exceeds its record",
        "a length of 0 or more within the record",
    ),
    "header_value": (
        "a header's value exceeds its record",
        "a length within the record, or a negative one for null",
    ),
    "control_key": (
        "a control record's key has no valid version and type",
        "at least 4 bytes, version 0 or above",
    ),
    "inner_length": (
        "the length of a message inside a compressed message is invalid",
        "a length that fits the message's format and the decompressed data",
    ),
    "inner_magic": ("the magic byte of a message inside a compressed message is invalid", "0 or 1"),
    "inner_compressed": (
        "a message inside a compressed message is itself compressed",
        "uncompressed messages inside",
    ),
    "inner_crc": ("the checksum of a message inside a compressed message is wrong", None),
    "wrapper_empty": ("a compressed message contains no messages", "at least one message inside"),
    "wrapper_offset": (
        "a compressed message's offset is below that of its last inner message",
        "the offset of the last inner message",
    ),
    "empty_with_bytes": (
        "the batch has a record count of 0 but also a body",
        "no bytes after the header of an empty batch",
    ),
    "nested_too_deep": ("compressed message sets are nested too deeply", "at most 8 levels"),
}

_PROBLEMS_07: dict[str, tuple[str, str | None]] = {
    "incomplete": ("the message continues past the end of the data", "a complete message"),
    "bad_length": (
        "the message's length field is too small",
        f"at least {V07_MIN_LENGTH} (magic 0) or {V07_MIN_LENGTH + 1} (magic 1) bytes",
    ),
    "bad_magic": ("the magic byte is not one of Kafka 0.7", "0 or 1"),
    "offset_above_file": (
        "the message reaches into the next segment's range",
        "an end at or before the next segment's start",
    ),
    "bad_codec": ("the message's codec does not exist in Kafka 0.7", "0 to 2"),
    "bad_crc": ("the checksum of the message's payload is wrong", None),
    "inner_length": (
        "the length of a message inside a compressed message is invalid",
        "a length that fits the magic byte and the decompressed data",
    ),
    "wrapper_empty": ("a compressed message has no payload", "a compressed message set"),
}
"""Kafka 0.7's own sentences, for the codes where they differ."""


def problem_of(code: int) -> tuple[str, str | None]:
    """Return the sentence for an error code of the core, and what was expected or None.

    A wrong checksum has no expected text: what was found gives the stored and the computed CRC.
    """
    return _PROBLEMS[NAMES[code]]


def problem_of_07(code: int) -> tuple[str, str | None]:
    """As `problem_of`, for a message of Kafka 0.7."""
    return _PROBLEMS_07.get(NAMES[code]) or problem_of(code)
