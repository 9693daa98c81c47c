"""Comparisons with what a user would use instead, in one run: the table of `make bench`."""
