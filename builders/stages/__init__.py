"""The stages: each reads shards, asks the pure functions beside this folder, and writes one shard."""
