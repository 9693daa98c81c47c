"""The stages: each reads shards, calls pure functions of `builders/`, and writes one shard."""
