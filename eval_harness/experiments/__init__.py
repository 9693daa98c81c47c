"""The paper's experiments: for all models that a table compares, train, look at heads, answer and report."""
