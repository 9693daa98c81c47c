"""Task files for lm-eval, and what they call."""
