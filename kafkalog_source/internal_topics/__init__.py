"""The records of Kafka's own topics, decoded: group offsets, transactions, share groups, metadata, remote segments."""
