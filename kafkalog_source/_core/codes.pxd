"""The codes that the loops of the core return, in the order of `codes.NAMES`. Zero is success."""


cdef enum Code:
    OK = 0
    # Why a loop stopped.
    END                    # all input was consumed, up to the end of an entry
    INCOMPLETE             # the entry continues past the end of the window
    PAST_OFFSETS           # the entry begins at or above the offset where reading stops
    FULL                   # the columns have enough rows for a record batch
    NO_MEMORY
    # Damage in the header of an entry.
    BAD_LENGTH
    BAD_MAGIC
    BAD_LAST_OFFSET_DELTA
    OFFSET_NOT_RISING
    OFFSET_BELOW_FILE
    OFFSET_ABOVE_FILE
    BAD_COUNT
    BAD_CODEC
    BAD_CRC
    # Damage in the body.
    COUNT_TOO_LARGE
    BYTES_LEFT_OVER
    RECORD_CUT
    RECORD_LENGTH
    RECORD_OFFSET
    KEY_LENGTH
    VALUE_LENGTH
    HEADER_COUNT
    HEADER_NAME
    HEADER_VALUE
    CONTROL_KEY
    INNER_LENGTH
    INNER_MAGIC
    INNER_COMPRESSED
    INNER_CRC
    WRAPPER_EMPTY
    WRAPPER_OFFSET
    EMPTY_WITH_BYTES
    NESTED_TOO_DEEP
