"""The model with one head that retrieves, and what it was probed on."""

from tests.eval_harness.probing.conftest import dataset, retriever

__all__ = ["dataset", "retriever"]
