"""What a cluster image holds: a module for each kind of thing, with the records that change it."""
