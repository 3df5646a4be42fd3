"""Makes ``spark.read.format("kafkalog")`` work with no registration.

Spark imports every top-level module whose name starts with ``pyspark_`` and registers
its ``DefaultSource``. It does so before a session first uses any Python data source,
so this module is small and never raises.
"""

import warnings

try:
    from kafkalog_source.spark.datasource import KafkaLogDataSource as DefaultSource
except Exception as error:
    # An exception here would disable every other Python data source of the session too.
    warnings.warn(f"kafkalog is installed but cannot be used: {error}", stacklevel=2)
else:
    __all__ = ["DefaultSource"]
