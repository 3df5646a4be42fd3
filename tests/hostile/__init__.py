"""Input made to hurt: lengths that lie, bombs, traps for time and memory, files that are none, and what must not leak.

- `bombs`: the densest legal streams of each codec, and streams that only claim to be large.
- `fields`: small segments of every format with one length or count field replaced, the CRC mended.
- `measured`: one reading in a process of its own, with the peak of its memory and the time it took.
"""
