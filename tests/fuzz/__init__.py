"""Mutated input against the decoder: whatever the bytes are, rows or one `KafkaLogError`, and never anything else.

Two commands make the input. `run` mutates blindly: it builds the compiled core under the sanitizers (`sanitized`) and
starts `session` in a child process, which makes one case after another (`targets`, or with ``--fast`` `fast`), each
from its number and the run's seed alone, and checks it. `guided` lets libFuzzer follow the core's branches: its child
(`guided_session`) turns libFuzzer's bytes into cases of `fast` (`inputs`), and the folder `corpus` is where it begins.
"""
