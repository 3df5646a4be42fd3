"""One segment file: reading it in windows, walking its batches, seeking by index, how it ends and what is damaged.

- `source`: bytes at a position, from a file or elsewhere.
- `entries`: batch headers in order, nothing decoded, and the proof that a batch begins at a place.
- `search`: the windows in which batches are searched for where none is known to begin.
- `index`, `seek`: where an offset or a time begins; where a file can be cut.
- `bounds`: the first offset of a file and the one after its last.
- `reader`: what a range (`span`) of a file holds, event by event: runs of good batches, damage, the end.
- `trust`, `faults`: what can be trusted at a place, what is wrong where no good batch is, and where reading goes on.
- `regions`, `contradictions`, `lost`, `tail`: the evidence for it: how far damage reaches, which of two offsets is
  wrong, which offsets are lost, how a file ends; `damage`: how it is described.
- `checking`, `survey`, `batch_headers`, `recovery`: who asks for events besides those who want rows.
- `entries07`, `faults07`, `resync07`, `seek07`: the same for Kafka 0.7; `opening`: who seeks in a file.
- `transactions`: transactions by a pass over headers; `txn_index`, `producer_snapshot`: what a broker noted of them.
"""
