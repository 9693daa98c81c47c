"""Checks of a published dataset, from its Parquet alone. None is written yet."""
