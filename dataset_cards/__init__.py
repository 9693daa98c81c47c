"""The card of a dataset, its numbers, and its way to the Hub."""
