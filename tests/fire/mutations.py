"""The loops of mutated input, one for each kind of file or reply; each counts what came of it."""

import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from builders.errors import SetupError
from eval_harness.models.chat_reply import Trouble, context_length, read
from tests import fire_files, fire_sources
from tests.dataset_cards.publishing import publish
from tests.eval_harness.models.chat_server import completion
from tests.eval_harness.test_mutated_files import every
from tests.fire_files import good_dataset
from tests.hub.clients import TOKENS, lead_to
from tests.hub.server import loopback_hub
from tests.mutations import mutated

Loop = Callable[[int, int], Counter[str]]
NAMES = {
    "traceback": "tracebacks", "bad line": "tracebacks", "refused": "errors", "one line": "errors", "read": "accepted",
}  # fmt: skip
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 1}}
MODELS = {"data": [{"id": "tiny", "max_model_len": 100, "meta": {"n_ctx_train": 50}}, {"id": "other"}]}
ASKED = 12  # the replies from one of these on are changed


def _counted(outcome: str, n: int = 1) -> Counter[str]:
    return Counter({NAMES.get(outcome, outcome): n})


def _sources(seed: int, records: int) -> Counter[str]:
    found = fire_sources.fire(str(seed), records).items()
    return sum((_counted(what.partition(": ")[2], n) for what, n in found), Counter())


def _files(seed: int, files: int) -> Counter[str]:
    """So many files of each kind, each read by one command, in turn."""
    found = fire_files.fire(seed, files * len(fire_files.NAMES), each=1)
    return sum((_counted(outcome, n) for (_, _, outcome), n in found.items()), Counter())


def _runs(seed: int, files: int) -> Counter[str]:
    """So many files of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        found = every(Path(folder), files, seed)
    return sum((_counted(what, n) for counts in found.values() for what, n in counts.items()), Counter())


def changed(body: bytes, rng: Random) -> bytes:
    """A body of JSON with one change inside, or with other bytes."""
    if rng.random() < 0.1:
        at = rng.randint(0, len(body))
        return rng.choice((body[:at], body[:at] + b"\xff\x00" + body[at:], b"", b"[]", b"null", b"[" * 9999))
    try:
        value = json.loads(body)
        return json.dumps(mutated(value, rng)).encode()
    except (ValueError, IndexError):  # no JSON, or nothing inside to change
        return rng.choice((b"{}", b"[]", b"3", b'"x"'))


def _chat_replies(seed: int, replies: int) -> Counter[str]:
    """Replies of a chat server, and its lists of models."""
    counts: Counter[str] = Counter()
    reply = json.dumps(completion("Rome", usage=USAGE, reasoning_content="Paris or Rome?")).encode()
    for number in range(replies):
        rng = Random(f"{seed} chat {number}")
        try:
            found = read(rng.choice((200, 200, 400, 429, 500)), changed(reply, rng))
            context_length(changed(json.dumps(MODELS).encode(), rng), "tiny")
            counts["errors" if isinstance(found, Trouble) else "accepted"] += 1
        except Exception:
            sys.stderr.write(f"chat reply {number}: {traceback.format_exc()[-2500:]}\n")
            counts["tracebacks"] += 1
    return counts


def _hub_replies(seed: int, replies: int) -> Counter[str]:
    """Publishes to a Hub whose replies are changed, from one of the first on, since a client asks again."""
    counts: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        loopback_hub(TOKENS) as hub,
        pytest.MonkeyPatch.context() as patch,
    ):
        lead_to(hub.url, Path(folder) / "cache", patch)
        patch.setattr(time, "sleep", lambda seconds: None)
        data = good_dataset(Path(folder) / "data")
        for number in range(replies):
            rng = Random(f"{seed} hub {number}")
            hub.faults.clear()
            hub.state.repos.clear()
            hub.requests.clear()
            hub.fault("", skip=rng.randrange(ASKED), times=50, change=lambda body, rng=rng: changed(body, rng))
            try:
                publish(data, hub)
                counts["accepted"] += 1
            except SetupError as error:
                counts["errors" if str(error) and "\n" not in str(error) else "tracebacks"] += 1
            except Exception:
                sys.stderr.write(f"Hub reply {number}: {traceback.format_exc()[-2500:]}\n")
                counts["tracebacks"] += 1
    return counts


# Each with its share of the number of records, for every kind of file or reply in it.
MUTATIONS: dict[str, tuple[Loop, float]] = {
    "sources and recipes": (_sources, 1.0),
    "files of a dataset": (_files, 0.5),
    "runs, heads, questions": (_runs, 0.5),
    "replies of a chat server": (_chat_replies, 0.5),
    "replies of the Hub": (_hub_replies, 0.5),
}
