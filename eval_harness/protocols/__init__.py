"""Protocols: several conditions on the same model that together explain its scores."""
