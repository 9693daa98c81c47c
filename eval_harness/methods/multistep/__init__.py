"""Multi-step retrieval: rounds of queries by the model over whole articles, then the answer (FRAMES)."""
