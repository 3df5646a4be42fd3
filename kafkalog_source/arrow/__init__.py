"""Arrow: the schemas of the views, and zero-copy record batches over the core's buffers."""
