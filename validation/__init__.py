"""Checks of a published dataset, from its Parquet alone: measures in DuckDB, expectations in Great Expectations."""
