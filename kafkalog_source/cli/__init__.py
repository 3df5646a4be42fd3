"""The command ``kafkalog``: words for people, JSON for programs, over the same scan as everything else.

`main` takes the command line apart and turns errors into one line each; `ls`, `dump`, `verify` and
`salvage` are its commands, a module each; `options` makes read options of flags; `offsets` finds where
a segment begins and ends; `text` and `cells` make text of names and of values; `progress` draws a bar.
"""
