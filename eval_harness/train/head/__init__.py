"""The joint retrieval head: a scorer of passages on top of a language model, trained with it (paper, section 4.3)."""
