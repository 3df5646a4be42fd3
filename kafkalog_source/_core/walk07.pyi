from kafkalog_source._core.memory import Scratch
from kafkalog_source._core.walk import Entries

class Entries07(Entries):
    origin: int
    def resume_behind(self, index: int, walked: int) -> None: ...

def find_message_07(window: Scratch, start: int, size: int, beyond: int) -> int: ...
