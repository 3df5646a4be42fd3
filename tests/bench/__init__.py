"""The benchmark: ``python -m tests.bench`` prints one report from runs side by side on the same segments.

In the order of the work: ``cases`` (what is measured), ``segments`` (writing and keeping the data),
``process`` (one run in a process of its own), ``child`` and ``spark_child`` (what runs there), ``decode``,
``spark``, ``memory``, ``threads`` and ``transactions`` (the parts), ``table`` and ``machine`` (the report).
"""
