"""The four-condition protocol: no evidence, full context, retrieved and oracle, on the same instances (ONCU)."""

from eval_harness.protocols.oncu.reported import document

__all__ = ["document"]
