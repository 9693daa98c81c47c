"""Options that would do nothing for the model that a user names; they are refused by name."""

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

from builders.errors import SetupError
from eval_harness.commands.options import Prompted, Server, Speed
from eval_harness.models import back_end_of

_ALWAYS = {"model", "max_new_tokens", "paper", "batch_size", "max_batch_tokens", "warm_up", "price_in", "price_out"}


def refuse_unused(asked: Prompted, speed: Speed, server: Server, *, dry_run: bool) -> None:
    """Raises SetupError for an option that the model's back end does not take, and for prices of no dry run."""
    back_end, _ = back_end_of(asked.model)
    takes = getattr(back_end, "takes", None)  # of another package's back end nothing is known
    for name, written in _given(asked, speed, server):
        if takes is not None and name not in takes | _ALWAYS:
            hint = ""
            if name == "template_field" and back_end.remote:
                hint = "; for vLLM: --request-field 'chat_template_kwargs={...}'"
            raise SetupError(f"{written} does nothing for {asked.model} ({back_end.says}); leave it out{hint}")
    prices = [price for price in server.prices if price is not None]
    if prices and not dry_run:
        raise SetupError("--price-in and --price-out do nothing without --dry-run; leave them out")
    if len(prices) == 1:
        raise SetupError("--price-in and --price-out do nothing alone; give both")


def _given(*groups: Any) -> Iterator[tuple[str, str]]:
    """Each option with another value than its default, as a field and as it is written."""
    for group in groups:
        for one in fields(group):
            if one.default is not MISSING and getattr(group, one.name) != one.default:
                no = "no-" if one.default is True else ""
                yield one.name, f"--{no}{one.name.replace('_', '-')}"
