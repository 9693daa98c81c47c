"""The summary table of a run, and the report over several runs."""

from eval_harness.report.table import Cell, cells, macro, summary, table

__all__ = ["Cell", "cells", "macro", "summary", "table"]
