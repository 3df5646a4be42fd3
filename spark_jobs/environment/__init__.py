"""What surrounds a job on the machine of its user.

- `shipped`: the files that come with the jobs. `example`: a config and a schedule for a job of one's own.
- `jvm`: the JVM that a job starts, and what of its output is printed. `progress`: the line of progress.
"""
