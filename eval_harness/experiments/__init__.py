"""The paper's experiments: train, probe and evaluate all models that a table compares, and report."""
