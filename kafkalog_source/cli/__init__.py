"""The command ``kafkalog``: text for people and JSON for programs, over the same reader as `scan`.

`main` runs a command line and turns errors into one line each; `commands` declares the commands and
`flags` what they share; `ls`, `dump`, `export`, `verify` and `salvage` do their work, a module each;
`exporting` writes files, `verdict` the end of a verification; `offsets` finds the first and last offset of
a segment; `text` and `cells` format names and values; `progress` draws a bar.
"""
