"""The stages: each reads shards, calls the pure functions of `builders/`, and writes one shard."""
