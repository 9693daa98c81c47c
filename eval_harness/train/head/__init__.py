"""The joint retrieval head: a passage scorer on top of a language model, trained with it (paper, section 4.3)."""
