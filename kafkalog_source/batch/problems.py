"""What the core's codes mean, in words: what is wrong and what was expected."""

from __future__ import annotations

from kafkalog_source._core.codes import NAMES
from kafkalog_source.format import V0_MIN_LENGTH, V07_MIN_LENGTH, V1_MIN_LENGTH, V2_MIN_LENGTH, V2_MIN_RECORD_SIZE

_PROBLEMS: dict[str, tuple[str, str | None]] = {
    "incomplete": ("the batch goes on behind the end of the data", "a batch that ends inside of it"),
    "no_memory": ("there is no memory for the batch, or a column would pass 2 GiB", None),
    "bad_length": (
        "the batch's length field is too small",
        f"at least {V0_MIN_LENGTH} (v0), {V1_MIN_LENGTH} (v1) or {V2_MIN_LENGTH} (v2) bytes",
    ),
    "bad_magic": ("the magic byte is of no known format", "0, 1 or 2"),
    "bad_last_offset_delta": ("the batch's last offset delta is out of range", "0 to 2147483647"),
    "offset_not_rising": ("the offset is not above that of the batch before", "offsets that rise"),
    "offset_below_file": (
        "the offset lies below the segment's base offset",
        "offsets from the file's name on",
    ),
    "offset_above_file": (
        "the offset reaches into the next segment's range",
        "offsets below the next file's base offset",
    ),
    "bad_count": ("the batch's record count is negative", "0 or more"),
    "bad_codec": (
        "the batch names a codec that does not exist in its format",
        "0 to 3 (v0, v1) or 0 to 4 (v2)",
    ),
    "bad_crc": ("the batch's checksum is wrong", "the CRC that its header carries"),
    "count_too_large": (
        "the batch claims more records than its bytes can hold",
        f"at least {V2_MIN_RECORD_SIZE} bytes a record",
    ),
    "bytes_left_over": ("bytes are left over behind the batch's last record", "a body that its records fill"),
    "record_cut": ("the batch's body ends before its last record", "as many records as the header counts"),
    "record_length": ("a record's length does not match its content", "the bytes that its fields take"),
    "record_offset": (
        "a record's offset does not rise or lies outside of its batch",
        "rising offsets from the batch's base to its last",
    ),
    "key_length": (
        "a key's length passes the end of its record",
        "a length that fits, or a negative one for null",
    ),
    "value_length": (
        "a value's length passes the end of its record",
        "a length that fits, or a negative one for null",
    ),
    "header_count": ("a record's header count lies", "0 up to what the record's bytes can hold"),
    "header_name": (
        "a header's name is null or passes the end of its record",
        "a length of 0 or more that fits",
    ),
    "header_value": (
        "a header's value passes the end of its record",
        "a length that fits, or a negative one for null",
    ),
    "control_key": (
        "a control record's key is not a version and a type",
        "at least 4 bytes, version 0 or above",
    ),
    "inner_length": (
        "the length of a message inside a compressed one lies",
        "a length that fits its format and data",
    ),
    "inner_magic": ("a message inside a compressed one is of no known format", "magic 0 or 1"),
    "inner_compressed": ("a message inside a compressed one is compressed itself", "plain messages inside"),
    "inner_crc": ("the checksum of a message inside a compressed one is wrong", "the CRC that it carries"),
    "wrapper_empty": ("a compressed message holds no messages", "at least one message inside"),
    "wrapper_offset": (
        "a compressed message's offset is below that of its last message",
        "its last message's offset",
    ),
    "empty_with_bytes": (
        "the batch counts no records but has a body",
        "no bytes behind an empty batch's header",
    ),
    "nested_too_deep": ("compressed message sets lie too deep inside each other", "at most 8 levels"),
}

_PROBLEMS_07: dict[str, tuple[str, str | None]] = {
    "incomplete": ("the message goes on behind the end of the data", "a message that ends inside of it"),
    "bad_length": (
        "the message's length field is too small",
        f"at least {V07_MIN_LENGTH} (magic 0) or {V07_MIN_LENGTH + 1} (magic 1) bytes",
    ),
    "bad_magic": ("the magic byte is none that Kafka 0.7 writes", "0 or 1"),
    "offset_above_file": ("the message reaches into the next segment's range", "an end before the next file's start"),
    "bad_codec": ("the message names a codec that Kafka 0.7 does not have", "0 to 2"),
    "bad_crc": ("the checksum of the message's payload is wrong", "the CRC that it carries"),
    "inner_length": ("the length of a message inside a compressed one lies", "a length that fits magic and data"),
    "wrapper_empty": ("a compressed message has no payload", "a compressed message set"),
}
"""The same for Kafka 0.7, where it has other words."""


def problem_of(code: int) -> tuple[str, str | None]:
    """The sentence for a code of the core that is not a good end, and what was expected instead."""
    return _PROBLEMS[NAMES[code]]


def problem_of_07(code: int) -> tuple[str, str | None]:
    """As `problem_of`, for a message of Kafka 0.7."""
    return _PROBLEMS_07.get(NAMES[code]) or problem_of(code)
