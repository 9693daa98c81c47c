"""Builds ICR² and LOFT-style splits: sources, chunks, gold, retrieval, pool, filter, mix, write."""
