"""One segment file: reading in windows, walking batches, seeking by index, and damage.

Modules, each on those above it:

- `source`: bytes at a position, from a file or elsewhere.
- `span`, `window`, `search`: a range of a segment, the part of it in memory, and the windows of a search for the next
  batch.
- `entries`: batch headers in order, without decoding, and the proof that a batch begins at a position.
- `seek`: the position of an offset or a time, and where a segment can be split; `opening` chooses by format.
- `reader`: the events of a span: runs of valid batches, damage, the end.
- `batch_headers`, `transaction_headers`: passes over headers that do not read payloads; `bounds`: the first offset and
  the offset after the last.

Packages:

- `damage`: what is wrong where no valid batch is found (`faults`, from `trust` to a verdict), and its evidence: where
  damage ends (`regions`), which of two offsets is wrong (`contradictions`), which offsets are lost (`lost`), how a
  file ends (`tail`), which header fields to show (`found`); `description` is what every mode, view and message shows.
- `side_files`: the indexes, the transaction index and the producer snapshots beside a segment.
- `v07`: the same for Kafka 0.7.
- `checks`: checks of a whole span, by headers and checksums or record by record, and what a broker keeps of a segment
  after a crash.
"""
