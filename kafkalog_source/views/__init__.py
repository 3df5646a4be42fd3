"""Views of files: ``segments``, ``transactions``, ``indexes``, ``producer_state`` and ``checkpoints``.

`plan` lists the files and packs them into splits; `reader` gives the Arrow batches
of a split, with the rows of many files in one (`row_buffer`). A module of each name
has the rows of a view; `segment_ends` is what ``segments`` knows without all headers.
"""
