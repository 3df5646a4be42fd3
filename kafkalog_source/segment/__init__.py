"""One segment file: reading it in windows, walking its batches, seeking by index, how it ends and what is damaged.

- `source`: bytes at a position, from a file or elsewhere.
- `headers`: batch headers in order, nothing decoded.
- `index`, `seek`: where an offset or a time begins; where a file can be cut.
- `bounds`: the first offset of a file and the one after its last.
- `rows`: the rows of a range of a file.
- `damage`, `tail`: what is wrong with a region, and how a file ends.
"""
