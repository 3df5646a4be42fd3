"""Views of files: ``segments``, ``indexes``, ``producer_state`` and ``checkpoints``.

`plan` lists the files and packs them into splits; `reader` gives the Arrow
batches of a split, row sources being `indexes`, `producer_state`, `checkpoints` and
`segments`.
"""
