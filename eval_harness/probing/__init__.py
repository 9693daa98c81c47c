"""Retrieval attention probing (paper, section 4.2): which heads look at gold, and answers from what they look at."""
