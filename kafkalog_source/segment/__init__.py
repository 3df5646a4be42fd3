"""One segment file: reading it in windows, walking its batches, seeking by index, how it ends and what is damaged.

Modules, each on those above it:

- `source`: bytes at a position, from a file or elsewhere.
- `span`, `window`, `search`: a range of a segment, the part of it that is in memory, and the windows in which a batch
  is searched for where none is known to begin.
- `entries`: batch headers in order, nothing decoded, and the proof that a batch begins at a place.
- `seek`: where an offset or a time begins, and where the segment can be cut; `opening` chooses by format.
- `reader`: what a span holds, event by event: runs of good batches, damage, the end.
- `batch_headers`, `transaction_headers`: passes over headers that leave payloads alone; `bounds`: the first offset and
  the one after the last.

Packages:

- `damage`: what is wrong where no good batch is (`faults`, from `trust` to a verdict), and its evidence: how far
  damage reaches (`regions`), which of two offsets is wrong (`contradictions`), which offsets are lost (`lost`), how a
  file ends (`tail`); `description` is what every mode, view and message shows.
- `side_files`: the indexes, the transaction index and producer snapshots beside a segment.
- `v07`: the same for Kafka 0.7.
- `checks`: all of a span checked, by headers and checksums alone or record by record, and what a broker keeps of a
  segment after a crash.
"""
