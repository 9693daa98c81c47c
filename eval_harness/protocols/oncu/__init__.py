"""The four-condition protocol (ONCU): closed_book, vanilla, retrieved and oracle, on the same instances."""

from eval_harness.protocols.oncu.reported import document

__all__ = ["document"]
