"""Protocols: several runs of a model that together say why it scores as it does."""
