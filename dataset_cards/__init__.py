"""The card of a dataset and its way to the Hub. Nothing is written yet: `icr2 build` writes a first card itself."""
