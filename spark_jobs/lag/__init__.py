"""What `spark_jobs.consumer_lag` does with committed offsets and batches.

- `commits`: the offsets that groups committed, and how long each was the latest.
- `logs`: what is in the logs of the topics that they consume, from the headers of batches.
- `history`: both joined: the lag of each group and partition over time.
- `moments`: the settings that are times and intervals.
"""
