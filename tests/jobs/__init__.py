"""The jobs of spark_jobs/, on the sample log directory that ships with the project."""
