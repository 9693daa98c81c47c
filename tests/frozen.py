"""Loaded last by the process that others are forked from: what is there already is never garbage in any of them."""

import gc

gc.collect()
gc.freeze()
