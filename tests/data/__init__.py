"""Log directories of real Kafka brokers, packed, with Kafka's own reading of each (see MANIFEST.md)."""
