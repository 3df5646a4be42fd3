"""The Spark data source ``kafkalog``, over the same plan and splits as ``scan()``.

``from kafkalog_source.spark import KafkaLogDataSource`` is for
``spark.dataSource.register``; an installed package needs no registration.
"""

from kafkalog_source.spark.datasource import KafkaLogDataSource

__all__ = ["KafkaLogDataSource"]
