"""Ours beside what a user would use instead, in one run: what `make bench` prints."""
