"""Makes ``spark.read.format("kafkalog")`` work with no registration.

Spark imports every top-level module whose name starts with ``pyspark_`` and takes
its ``DefaultSource``. It does so before the first Python data source of a session
is used, whichever that is, so this module is small and never raises.
"""

import warnings

try:
    from kafkalog_source.spark.datasource import KafkaLogDataSource as DefaultSource
except Exception as error:
    # Raised here, it would take every other Python data source of the session down too.
    warnings.warn(f"kafkalog is installed and cannot be used: {error}", stacklevel=2)
else:
    __all__ = ["DefaultSource"]
