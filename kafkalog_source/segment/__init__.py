"""One segment file: reading it in windows, walking its batches, seeking by index, how it ends and what is damaged.

- `source`: bytes at a position, from a file or elsewhere.
- `entries`: batch headers in order, nothing decoded, and the proof that a batch begins at a place.
- `index`, `seek`: where an offset or a time begins; where a file can be cut.
- `bounds`: the first offset of a file and the one after its last.
- `rows`: the rows of a range of a file.
- `entries07`, `seek07`, `rows07`, `resync07`: the same for Kafka 0.7; `opening`: which of them reads a file.
- `transactions`: transactions by a pass over headers; `txn_index`, `producer_snapshot`: what a broker noted of them.
- `survey`: all batches of a range checked, and the good ones shown to whoever asks.
- `damage`, `tail`: what is wrong with a region, and how a file ends.
"""
