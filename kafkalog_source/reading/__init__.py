"""From options to Arrow batches: plan a read, cut it into splits, read each split."""
