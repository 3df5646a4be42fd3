"""The examples in conf/schedule: how the jobs are run every night."""
