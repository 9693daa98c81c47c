"""Needles in haystacks for embedding models: is a long text that contains the answer still close to its question?"""

from eval_harness.protocols.needles.reported import document

__all__ = ["document"]
