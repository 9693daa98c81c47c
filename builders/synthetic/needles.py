"""Needles in haystacks for embedding models, where question and needle need not share a word (NoLiMa's idea).

A haystack is its passages joined by blank lines: fragments of unrelated pages and one needle. All needles of a group
share the same fragments at every depth, and a longer haystack begins with the fragments of the shorter ones, so
differences between word orders, kinds of needle, depths and lengths are paired. Lengths, budgets and `n_tokens` count
only that text, since an embedding model gets no prompt.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from builders.config import Source, length_from, tokens_of
from builders.engine import Pipeline, Stage, Tick
from builders.filters import AnswerFilter, drop_reasons
from builders.mix import finish
from builders.prompts import BLANK_LINE, haystack
from builders.schema import Passage, Question
from builders.seeds import order_key
from builders.synthetic.base import SyntheticRecipe, SyntheticRow, row_of
from builders.synthetic.fragments import LEAST, Fragment, Pool, read_pool, source_files
from builders.synthetic.needle_groups import Group, read_groups
from builders.synthetic.overlap import content_words
from builders.synthetic.rows import WRITE, write_rows
from builders.tasks import TaskSpec
from builders.tokens import TokenCounter, token_counter
from builders.work import Build, Counts, Shard

_GROUPS, _FRAGMENTS = "groups.json", "pool"  # shards
GROUPS_PER_SHARD = 4
GROUPS = Path(__file__).with_name("needles.yaml")
NOWHERE = -1  # the row of a passage outside the corpus
ENOUGH = 0.9  # share of its length that a haystack must fill
_FULL, _GAP = 2, 2 * LEAST  # tokens that may stay unfilled, and a gap that some fragment easily fills
_SPARE = 8192  # tokens beyond the longest haystack, for a better choice of fragments for the shortest ones

Depth = Annotated[int, Field(ge=0, le=100)]
Length = Annotated[str, BeforeValidator(str), AfterValidator(length_from(64))]


class NeedlesRecipe(SyntheticRecipe):
    """Questions with their needles, and the texts of the fragments."""

    lengths: list[Length] = Field([], min_length=1)
    reserve: int | None = Field(0, ge=0)
    knowledge: Source  # pages by any reader, or a folder of text files (reader: texts)
    groups: Source | None = None  # questions with their needles; default: the bundled ones
    fragment: int = Field(40, ge=2 * LEAST, lt=250)  # tokens of a fragment, at most
    depths: list[Depth] = Field([0, 11, 22, 33, 44, 56, 67, 78, 89, 100], min_length=1)  # percent of the fragments
    controls: int = Field(4, ge=1)  # haystacks without a needle, for each group and length

    @model_validator(mode="after")
    def _distinct(self) -> "NeedlesRecipe":
        if len(set(self.depths)) < len(self.depths):
            raise ValueError("depths repeats a depth")
        return self

    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        """The categories of its questions."""
        names = dict.fromkeys(group.category for group in read_groups(paths["groups"]))
        return [TaskSpec(name, "needle", {}, "needle", name) for name in names]


class _Row(NamedTuple):
    id: str
    items: list[Passage]
    depth: int | None
    reasoning_types: list[str]

    @property
    def haystack(self) -> str:
        return haystack(item.text for item in self.items)


def plan_groups(build: Build[NeedlesRecipe]) -> list[Shard]:
    """One shard."""
    return [Shard(_GROUPS)]


def make_groups(build: Build[NeedlesRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the groups; with a limit, only the first of each category."""
    taken: Counter[str] = Counter()
    groups = []
    for group in read_groups(build.inputs["groups"].path):
        taken[group.category] += 1
        if build.recipe.limit is None or taken[group.category] <= build.recipe.limit:
            groups.append(group)
    out.write_text(json.dumps([group.as_json() for group in groups], ensure_ascii=False), encoding="utf-8")
    return {"groups": len(groups)}


def _groups(build: Build[NeedlesRecipe]) -> list[Group]:
    return [*map(Group.of_json, json.loads(build.path("groups", _GROUPS).read_text(encoding="utf-8")))]


def plan_fragments(build: Build[NeedlesRecipe]) -> list[Shard]:
    """One shard."""
    return [Shard(_FRAGMENTS)]


def make_fragments(build: Build[NeedlesRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the fragments of all texts; unusable text is counted."""
    recipe, counts = build.recipe, Counter[str]()
    texts = {place: given.path for place, given in build.inputs.items() if place != "groups"}
    pool = read_pool(recipe.knowledge.reader, texts, recipe.fragment, token_counter(recipe.tokenizer), counts)
    pool.write(out)
    return dict(+counts)


def plan_rows(build: Build[NeedlesRecipe]) -> list[Shard]:
    """One shard for every few groups."""
    return [Shard(f"{number:05d}", part=number) for number in range(-(-len(_groups(build)) // GROUPS_PER_SHARD))]


def make_rows(build: Build[NeedlesRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the rows of some groups, one group at a time, shortest length first.

    A group with too few fragments for a length is left out of it, and its rows are counted as `too_few_fragments`.
    """
    first, counts = shard.part * GROUPS_PER_SHARD, Counter[str]()
    groups, pool = _groups(build)[first : first + GROUPS_PER_SHARD], _pool(build.path("fragments", _FRAGMENTS))
    haystacks = _Haystacks(build.recipe, token_counter(build.recipe.tokenizer), counts)
    write_rows((row for group in groups for row in haystacks.rows(group, pool.without(barred_words(group)))), out)
    return dict(+counts)


_pool = lru_cache(1)(Pool.read)


def barred_words(group: Group) -> frozenset[str]:
    """The content words of a group's question and needles; pages that contain any are excluded from its haystacks."""
    return content_words(" ".join([group.wording.question, *(text for *_, text in group.needles)]))


class _Haystacks:
    """Fills haystacks and builds their rows."""

    def __init__(self, recipe: NeedlesRecipe, counter: TokenCounter, counts: Counter[str]) -> None:
        self._recipe, self._counter, self._counts = recipe, counter, counts
        self._lengths = sorted(recipe.lengths, key=tokens_of)
        self._joint = counter.count(f"A.{BLANK_LINE}B.") - counter.count("A.") - counter.count("B.")
        self._answers = AnswerFilter()

    def rows(self, group: Group, free: Sequence[Fragment]) -> Iterator[SyntheticRow]:
        """All rows of a group, from its allowed fragments."""
        sizes = [tokens + self._joint for tokens in self._counter.count_all([text for *_, text in group.needles])]
        budgets = [self._recipe.budget(length) for length in self._lengths]
        own, *others = self._streams(group, free)
        filled = self._filled(own, [budget - max(sizes) for budget in budgets])
        mean = sum(sizes) // len(sizes)
        room = [sum(one.tokens + self._joint for one in found) - self._joint + mean for found in filled]
        controls = [self._filled(stream, room) for stream in others]
        for at, (length, budget) in enumerate(zip(self._lengths, budgets, strict=True)):
            found = self._fitting(group, filled[at], [stream[at] for stream in controls], budget)
            if found is None:
                self._counts["too_few_fragments"] += (
                    len(group.needles) * len(self._recipe.depths) + self._recipe.controls
                )
                continue
            for row, n_tokens in found:
                flags = finish(row.items, n_tokens, budget, length, ran_out=False).flags
                question = _question(group, row)
                made = row_of(question, "needle", row.items, n_tokens, flags=flags, asks=group.id, depth=row.depth)
                yield SyntheticRow(self._recipe.config(length), "test", made)

    def _streams(self, group: Group, free: Sequence[Fragment]) -> list[list[Fragment]]:
        """The fragments in the group's own order, without near duplicates, dealt to its haystack and its controls."""
        ordered = sorted(free, key=lambda one: order_key(self._recipe.seed, group.id, one.pid))
        n = 1 + self._recipe.controls
        return [self._distinct(group, ordered[first::n]) for first in range(n)]

    def _distinct(self, group: Group, stream: Sequence[Fragment]) -> list[Fragment]:
        enough = tokens_of(self._lengths[-1]) + _SPARE
        before = accumulate((one.tokens for one in stream), initial=0)
        kept = [one for one, tokens in zip(stream, before, strict=False) if tokens < enough]
        candidates = [Passage(row, one.pid, "", one.text) for row, one in enumerate(kept)]
        reasons = drop_reasons(candidates, [], (), [group.wording.name], self._answers)
        return [one for one, reason in zip(kept, reasons, strict=True) if reason is None]

    def _filled(self, stream: Sequence[Fragment], room: Sequence[int]) -> list[list[Fragment]]:
        """For each number of tokens, ascending, the fragments that fill it; each list extends the previous one."""
        found = []
        taken: list[Fragment] = []
        used, waiting = 0, list(stream)
        for most in room:
            for gap in (_GAP, 0):  # first pass: skip fragments that leave a gap no other could fill
                passed = []
                for fragment in waiting:
                    tokens = fragment.tokens + (self._joint if taken else 0)
                    if _FULL < most - used - tokens < gap or used + tokens > most:
                        passed.append(fragment)
                    else:
                        taken.append(fragment)
                        used += tokens
                waiting = passed
            found.append(list(taken))
        return found

    def _fitting(
        self, group: Group, filled: list[Fragment], controls: list[list[Fragment]], budget: int
    ) -> list[tuple[_Row, int]] | None:
        """A group's rows at a length with their tokens; None where the fragments do not fill it.

        Fragments are removed until no row is too long.
        """
        while True:
            needles = list(self._needle_rows(group, filled))
            plain = [self._control(group, number, found) for number, found in enumerate(controls, start=1)]
            tokens = self._counter.count_all([row.haystack for row in (*needles, *plain)])
            over = [count > budget for count in tokens]
            if not any(over):
                break
            if any(over[: len(needles)]):
                filled = filled[:-1]
            controls = [found[:-1] if n else found for found, n in zip(controls, over[len(needles) :], strict=True)]
        longest = max(tokens[: len(needles)])
        if min(longest, *tokens[len(needles) :]) < ENOUGH * budget:
            return None
        return list(zip([*needles, *plain], tokens, strict=True))

    def _needle_rows(self, group: Group, filled: Sequence[Fragment]) -> Iterator[_Row]:
        items = [_item(fragment) for fragment in filled]
        places = [(depth, place_of(depth, [one.tokens for one in filled])) for depth in self._recipe.depths]
        for needle, order, text in group.needles:
            item = Passage(NOWHERE, f"needle:{group.id}:{needle}:{order}", "", text, "gold")
            for depth, place in places:
                id = f"{group.id}-{needle}-{order}-{depth}"
                yield _Row(id, [*items[:place], item, *items[place:]], depth, [needle, order])

    def _control(self, group: Group, number: int, filled: Sequence[Fragment]) -> _Row:
        return _Row(f"{group.id}-control-{number}", [_item(fragment) for fragment in filled], None, [])


def place_of(depth: int, tokens: Sequence[int]) -> int:
    """The number of fragments before a needle whose share of tokens is nearest to `depth` percent."""
    before = list(accumulate(tokens, initial=0))
    return min(range(len(before)), key=lambda place: abs(100 * before[place] - depth * before[-1]))


def _item(fragment: Fragment) -> Passage:
    return Passage(NOWHERE, fragment.pid, "", fragment.text)  # a title would tell fragments from needles


def _question(group: Group, row: _Row) -> Question:
    wording = group.wording
    return Question(row.id, group.category, wording.question, [wording.name], "text", [], 1, row.reasoning_types)


def sources(recipe: NeedlesRecipe, base: Path) -> dict[str, Source]:
    """The groups and the files of the texts."""
    groups = recipe.groups or Source(reader="needles", path=str(GROUPS), licence="apache-2.0")
    return {"groups": groups, **source_files(recipe.knowledge, base)}


SETTINGS = ("kind", "lengths", "reserve", "depths", "controls", "seed", "tokenizer")
STAGES = [
    Stage("groups", "read needles", 1, (), ("groups", "limit"), plan_groups, make_groups),
    Stage("fragments", "cut fragments", 1, (), ("knowledge", "fragment", "tokenizer"), plan_fragments, make_fragments,
          leaves_out=True),
    Stage("rows", "build rows", 1, ("groups", "fragments"), SETTINGS, plan_rows, make_rows, leaves_out=True),
    WRITE,
]  # fmt: skip
KIND = Pipeline(
    NeedlesRecipe,
    STAGES,
    sources,
    "Haystacks for embedding models: short fragments of unrelated texts with one needle, a sentence that\n"
    "answers the query in the query's own words (`literal`) or in others (`one_hop`). A row without gold is a\n"
    "control. Names and needles are invented.",
)
