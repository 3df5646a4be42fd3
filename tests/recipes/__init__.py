"""The recipes of docs/recipes.md answer what they say: on logs whose answers are known, and in Spark as in DuckDB."""
