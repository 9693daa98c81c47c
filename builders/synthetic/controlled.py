"""Invented facts at set lengths and depths: only the context contains the answer, and gold is at the row's depth.

A config has each question once per depth. These rows have the same passages in the same order, except for gold, and
a shorter context is a subset of a longer one, so comparisons of depth and length are paired.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

from pydantic import Field, model_validator

from builders.config import Source
from builders.engine import Pipeline, Stage, Tick
from builders.filters import AnswerFilter, drop_reasons
from builders.mix import Mixer, finish, interleave, mixer_of
from builders.schema import Passage, Question, Role, Split
from builders.seeds import order_key, rng_for, shuffled
from builders.synthetic.base import SyntheticRecipe, SyntheticRow, at_depth, row_of
from builders.synthetic.layout import cells, depths_of, marks_of
from builders.synthetic.rows import WRITE, write_rows
from builders.synthetic.world import MOST_CLUSTERS, SPLITS, TEMPLATES, Asked, Fact, World
from builders.tasks import TaskSpec
from builders.work import Build, Counts, Shard

TASKS = {1: "controlled_1hop", 2: "controlled_2hop"}
TYPES = {1: "one_hop", 2: "two_hop"}


class ControlledRecipe(SyntheticRecipe):
    """Questions of one hop and as many of two, at set depths, among the facts of a world of set size."""

    take: dict[Split, Annotated[int, Field(ge=1)]] = Field({"test": 11, "validation": 3}, min_length=1)
    depths: list[Annotated[int, Field(ge=0, le=100)]] = Field(list(range(0, 101, 10)), min_length=1)
    world: int = Field(400, ge=10, le=MOST_CLUSTERS)  # facts of each relation, in each split
    confounders: int = Field(50, ge=0, le=100)  # percent of the passages that are not gold

    @model_validator(mode="after")
    def _enough(self) -> "ControlledRecipe":
        if len(set(self.depths)) < len(self.depths):
            raise ValueError(f"depths {self.depths} repeat a depth")
        if 2 * max(self.take.values()) > self.world:
            raise ValueError(f"take asks for more questions than a world of {self.world} has; increase world")
        return self

    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        """Questions of one hop and of two."""
        return [TaskSpec(task, "qa", {}, "qa", task) for task in TASKS.values()]


class Laid(NamedTuple):
    """A question with everything that its rows need."""

    question: Question
    gold: list[Passage]
    stream: list[Passage]
    cells: dict[str, int]  # of the stream, by pid


def plan_rows(build: Build[ControlledRecipe]) -> list[Shard]:
    """One shard for each split and number of hops."""
    splits = [split for split in SPLITS if split in build.recipe.take]
    return [Shard(f"{split}-{hops}", task, split, part=hops) for split in splits for hops, task in TASKS.items()]


def make_rows(build: Build[ControlledRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the rows of a split and number of hops; the first cover different questions, at alternating depths."""
    split, hops = cast(Split, shard.split), shard.part
    counts: Counter[str] = Counter()
    maker = _Maker(build.recipe, split, mixer_of(build.recipe.tokenizer, build.recipe.seed), counts)
    write_rows(maker.rows(hops), out)
    return dict(+counts)


class _Maker:
    """Generates the rows of one split."""

    def __init__(self, recipe: ControlledRecipe, split: Split, mixer: Mixer, counts: Counter[str]) -> None:
        self._recipe, self._split, self._mixer, self._counts = recipe, split, mixer, counts
        self._world, self._answers = World(recipe.seed, split, recipe.world), AnswerFilter()
        self._marks = marks_of(recipe.depths)

    def rows(self, hops: int) -> Iterator[SyntheticRow]:
        """The rows of all questions with this number of hops."""
        recipe, take = self._recipe, self._recipe.take[self._split]
        laid = [self._laid(hops, number) for number in range(min(take, recipe.limit or take))]
        self._counts[f"{TASKS[hops]}_questions"] += len(laid)
        fits = [{length: self._fit(one, length) for length in recipe.lengths} for one in laid]
        for turn in range(len(recipe.depths)):
            for at, one in enumerate(laid):
                depth = recipe.depths[(at + turn) % len(recipe.depths)]
                for length, fit in fits[at].items():
                    if fit is None:
                        self._counts[f"gold_over_budget_{length}"] += 1
                    else:
                        yield SyntheticRow(recipe.config(length), self._split, self._row(one, length, depth, *fit))

    def _row(self, one: Laid, length: str, depth: int, n: int, tokens: Mapping[int, int]) -> dict[str, Any]:
        """The row of a question at a depth, among the first `n` passages of its stream."""
        items, budget = self._placed(one, n, depth), self._recipe.budget(length)
        context = finish(items, tokens[depth], budget, length, ran_out=n == len(one.stream))
        self._counts.update(context.flags)
        question = one.question._replace(id=at_depth(one.question.id, depth))
        return row_of(
            question, "qa", items, context.n_tokens, context.ratio, context.flags, asks=one.question.id, depth=depth
        )

    def _laid(self, hops: int, number: int) -> Laid:
        cluster = 2 * number + hops - 1  # no two questions are about one cluster
        asked = self._world.one_hop(number, cluster) if hops == 1 else self._world.two_hop(number, cluster)
        id = f"{TASKS[hops]}-{self._split}-{number:04d}"
        question = Question(id, TASKS[hops], asked.query, asked.answers, "text", [], hops, [TYPES[hops]])
        gold, stream = [_item(fact, "gold") for fact in asked.facts], self._stream(id, asked, cluster)
        reasons = drop_reasons(stream, gold, (), asked.answers, self._answers)
        self._counts.update(f"dropped_{reason}" for reason in reasons if reason)
        kept = [item for item, reason in zip(stream, reasons, strict=True) if reason is None]
        found = cells([self._mixer.block_tokens(item) for item in kept], self._marks)
        return Laid(question, gold, kept, {item.pid: cell for item, cell in zip(kept, found, strict=True)})

    def _stream(self, id: str, asked: Asked, cluster: int) -> list[Passage]:
        """Facts of other clusters: those of the question's relations are confounders, all others random."""
        own = {self._world.relation_of(fact) for fact in asked.facts}
        same = [relation for relation in self._world.relations if relation in own]
        other = [relation for relation in self._world.relations if relation not in own]
        confounders, random = self._drawn(id, "confounder", same, cluster), self._drawn(id, "random", other, cluster)
        return interleave(confounders, random, self._recipe.confounders)

    def _drawn(self, id: str, role: Role, relations: Sequence[str], cluster: int) -> list[Passage]:
        """Facts of relations outside a cluster, in the question's own order: enough for the longest context."""
        items: list[Passage] = []
        room = max(map(self._recipe.budget, self._recipe.lengths))
        clusters = self._world.clusters
        for place in shuffled(rng_for(self._recipe.seed, id, role), len(relations) * clusters):
            if room < 0:
                break
            if place % clusters != cluster:
                items.append(_item(self._world.fact(relations[place // clusters], place % clusters), role))
                room -= self._mixer.block_tokens(items[-1])
        return items

    def _fit(self, one: Laid, length: str) -> tuple[int, dict[int, int]] | None:
        """How many passages of the stream fit a length at every depth, and the tokens of the prompt at each."""
        question, budget = one.question, self._recipe.budget(length)
        fitted = self._mixer.context(
            TaskSpec(question.task, "qa"), [question.query], question.id, one.gold, one.stream, budget
        )
        if fitted is None:
            return None
        for n in range(len(fitted[0]) - len(one.gold), -1, -1):
            contexts = {depth: self._placed(one, n, depth) for depth in self._recipe.depths}
            tokens = {
                d: self._mixer.count(TaskSpec(question.task, "qa"), question.query, items)
                for d, items in contexts.items()
            }
            if max(tokens.values()) <= budget:
                return n, tokens
        return None

    def _placed(self, one: Laid, n: int, depth: int) -> list[Passage]:
        """Gold at a depth among the first `n` passages of the stream, in an order independent of both."""
        places = {
            item.pid: (2 * self._marks.index(mark), b"")
            for mark, item in zip(depths_of(depth, len(one.gold)), one.gold, strict=True)
        }
        for item in one.stream[:n]:
            key = order_key(self._recipe.seed, one.question.id, item.pid)
            places[item.pid] = (2 * one.cells[item.pid] + 1, key)
        return sorted([*one.gold, *one.stream[:n]], key=lambda item: places[item.pid])


def _item(fact: Fact, role: Role) -> Passage:
    return Passage(fact.row, fact.pid, fact.subject.name, fact.text, role)


def sources(recipe: ControlledRecipe, base: Path) -> dict[str, Source]:
    """None: everything is generated."""
    return {}


def identities(recipe: ControlledRecipe) -> dict[str, str]:
    """The digest of the templates of the world."""
    return {"world": sha256(TEMPLATES.read_bytes()).hexdigest()}


SETTINGS = ("kind", "lengths", "reserve", "take", "limit", "depths", "world", "confounders", "seed", "tokenizer")
STAGES = [Stage("rows", "build rows", 1, (), SETTINGS, plan_rows, make_rows, leaves_out=True), WRITE]
KIND = Pipeline(
    ControlledRecipe,
    STAGES,
    sources,
    "Synthetic: every person, place, thing and text in these contexts is invented. Questions of "
    "one and of two hops are asked over gold at set depths of contexts of set lengths; `depth` is the percentage "
    "of the tokens of non-gold passages that precede the first gold passage.",
    identities,
)
