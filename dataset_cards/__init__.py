"""The card of a dataset, its statistics, and its publication on the Hub."""
