"""Do the rows equal what Kafka's own classes read from the segments of real brokers?"""
