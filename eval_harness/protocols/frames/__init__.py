"""FRAMES: questions over several articles, answered without them, after one search, after several, or with gold."""

from eval_harness.protocols.frames.reported import document

__all__ = ["document"]
