"""Whatever can be built is read as the reference reads it, however the reading is cut."""
