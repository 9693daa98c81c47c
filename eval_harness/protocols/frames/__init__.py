"""FRAMES: multi-article questions under closed_book, retrieval, multi-step retrieval and oracle conditions."""

from eval_harness.protocols.frames.reported import document

__all__ = ["document"]
