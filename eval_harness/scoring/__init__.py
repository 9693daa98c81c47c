"""Scores of answers and of evidence."""
