"""Every check, in report order; to add one, add a file here and its name to NAMES."""

from importlib import import_module

from builders.registry import Registry
from validation.checks.base import Check

NAMES = (
    # files
    "rows", "schema", "manifest",
    # single rows
    "ids", "complete", "facts", "gold", "roles", "ratio", "budget", "token_count", "flags", "passage_twice",
    "pid_text", "context",
    # consistency between rows
    "question", "matched", "same_gold", "nested", "order", "split_overlap",
    # leaks
    "answer_in_context", "waiver", "gold_overlap", "near_duplicate", "markers", "gold_position", "artefact",
    # warnings
    "answers_of_task", "answer_in_gold", "other_notation", "sibling_answer", "near_gold", "query_in_passage",
    "answer_in_query", "gold_page_overlap", "near_query", "retriever_shares", "length_met",
    "equal_tokens", "encoding",
)  # fmt: skip

CHECKS: Registry[Check] = Registry(
    "icr2.checks", "check", {name: import_module(f"validation.checks.{name}").CHECK for name in NAMES}, Check
)
