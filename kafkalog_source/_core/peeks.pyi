from kafkalog_source._core.memory import Scratch
from kafkalog_source.segment.header_walk import Walker

def peek_headers(
    descriptor: int, memory: Scratch, walker: Walker, position: int, end: int, most: int, size: int, least: int
) -> tuple[int, int]: ...
