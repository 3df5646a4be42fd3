"""Mutated input against the decoder: whatever the bytes are, rows or one `KafkaLogError`, and never anything else.

`run` is the command. It builds the compiled core under the sanitizers (`sanitized`) and starts `session` in a child
process, which makes one case after another (`targets`), each from its number and the run's seed alone, and checks it.
"""
