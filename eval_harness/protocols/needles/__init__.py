"""Needles in haystacks for embedding models: is a long text that holds the answer still near to its question?"""

from eval_harness.protocols.needles.reported import document

__all__ = ["document"]
