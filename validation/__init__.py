"""Checks of a published dataset, from its Parquet only: measures in DuckDB, expectations in Great Expectations."""
