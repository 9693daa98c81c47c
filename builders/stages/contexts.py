"""The contexts of every config: which passages stand in each row, in which order, and how many tokens they make."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from builders.corpus import Corpus
from builders.engine import Tick
from builders.files import read_table, write_table
from builders.filters import AnswerFilter, Text, answer_flags, drop_reasons
from builders.loft import GOLD_SHARE, Group, Member, deal
from builders.mix import Context, Item, Mixer, finish, interleave, mixer_of
from builders.schema import PLANS, Role
from builders.stages.candidates import random_rows, text_at
from builders.work import Build, Counts, Shard


def plan_mix(build: Build) -> list[Shard]:
    """One shard for each shard of questions; none where a recipe has LOFT-style configs alone."""
    return build.shards("gold") if build.recipe.lengths else []


def make_mix(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the contexts of each question at every length and ratio."""
    recipe, corpus, mixer = build.recipe, build.corpus, mixer_of(build.recipe.tokenizer, build.recipe.seed)
    streams = _streams(corpus, read_table(build.path("filter", shard.name)))
    rows, counts = [], Counter[str]()
    for target in read_table(build.path("gold", shard.name)).to_pylist():
        gold = [_item(corpus, row, "gold") for row in target["gold"]]
        retrieved, random = streams.get((target["id"], "retrieved"), []), streams.get((target["id"], "random"), [])
        task, flags = recipe.spec(target["task"]), answer_flags(target["answers"], target["answer_kind"])
        for ratio in recipe.ratios:
            stream = interleave(retrieved, random, ratio)
            for length in recipe.lengths:
                budget = recipe.budget(length)
                fitted = mixer.context(task, [target["query"]], target["id"], gold, stream, budget)
                if fitted is None:
                    counts[f"gold_over_budget_{length}"] += 1
                    continue
                items, (n_tokens,) = fitted
                ran_out = len(items) == len(gold) + len(stream)
                context = finish(items, n_tokens, budget, length, ran_out)
                rows.append(_plan(target["id"], target["id"], recipe.mixed(length, ratio), context, flags))
                counts.update(context.flags)
    write_table(out, pa.Table.from_pylist(rows, schema=PLANS))
    return dict(counts)


def _streams(corpus: Corpus, candidates: pa.Table) -> dict[tuple[str, str], list[Item]]:
    streams: dict[tuple[str, str], list[Item]] = {}
    for row in candidates.to_pylist():
        if row["reason"] is None:
            stream = streams.setdefault((row["qid"], row["stream"]), [])
            if row["stream"] == "random":
                stream.append(_item(corpus, row["row"], "random"))
            else:
                found = (row["retrievers"], row["rank"], row["score"])
                stream.append(_item(corpus, row["row"], "confounder", *found))
    return streams


def _item(
    corpus: Corpus,
    row: int,
    role: Role,
    retrievers: Sequence[str] = (),
    rank: int | None = None,
    score: float | None = None,
) -> Item:
    passage = corpus.passage(row)
    return Item(row, passage.pid, passage.title, passage.text, role, tuple(retrievers), rank, score)


def _plan(id: str, context_id: str, config: str, context: Context, flags: Sequence[str]) -> dict:
    fields = ("row", "role", "retrievers", "rank", "score")
    return {
        "id": id,
        "context_id": context_id,
        "config": config,
        "passages": [{name: getattr(item, name) for name in fields} for item in context.items],
        "n_tokens": context.n_tokens,
        "confounding_ratio": context.ratio,
        "flags": [*flags, *context.flags],
    }


def plan_loft(build: Build) -> list[Shard]:
    """One shard for each task, split and LOFT-style length."""
    splits = dict.fromkeys((shard.task, shard.split) for shard in build.shards("gold"))
    return [
        Shard(f"{task}-{split}-{length}", task, split, build.recipe.shared(length), length)
        for task, split in splits
        for length in build.recipe.loft
    ]


def make_loft(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the shared contexts of one task, split and length."""
    length = shard.length
    budget, mixer = build.recipe.budget(length), mixer_of(build.recipe.tokenizer, build.recipe.seed)
    targets = {
        target["id"]: target
        for questions in build.shards("gold")
        if (questions.task, questions.split) == (shard.task, shard.split)
        for target in read_table(build.path("gold", questions.name)).to_pylist()
    }
    members = [_member(build, mixer, target) for target in targets.values()]
    fitting = [member for member in members if member.tokens <= GOLD_SHARE * budget]
    answer_filter = AnswerFilter()
    groups = deal(fitting, int(GOLD_SHARE * budget), answer_filter)
    rows: list[dict] = []
    for number, group in enumerate(groups):
        name = f"{shard.name}-{number:04d}"
        rows += _group_rows(build, mixer, name, group, [targets[member.id] for member in group], length, answer_filter)
        tick(number + 1, len(groups))
    write_table(out, pa.Table.from_pylist(rows, schema=PLANS))
    left_out = len(members) - len(fitting)
    return {f"gold_over_budget_loft_{length}": left_out, "groups": len(groups)}


def _member(build: Build, mixer: Mixer, target: dict) -> Member:
    gold = [text_at(build.corpus, row) for row in target["gold"]]
    answers = target["answers"] if target["answer_kind"] == "text" else []
    items = [_item(build.corpus, row, "gold") for row in target["gold"]]
    return Member(target["id"], gold, target["barred"], answers, sum(map(mixer.block_tokens, items)))


def _group_rows(
    build: Build, mixer: Mixer, name: str, group: Group, targets: list[dict], length: str, answer_filter: AnswerFilter
) -> list[dict]:
    corpus, budget = build.corpus, build.recipe.budget(length)
    gold = [_item(corpus, passage.row, "gold") for passage in group.gold]
    filler = _filler(build, name, group, budget, answer_filter)
    stream = [_item(corpus, passage.row, "random") for passage in filler]
    task = build.recipe.spec(targets[0]["task"])
    fitted = mixer.context(task, [target["query"] for target in targets], name, gold, stream, budget)
    if fitted is None:  # the gold fills at most GOLD_SHARE of the budget, so a query alone is longer than the rest
        return []
    items, counts = fitted
    ran_out = len(items) == len(gold) + len(stream)
    rows = []
    for target, n_tokens in zip(targets, counts, strict=True):
        own = set(target["gold"])
        roles = [item._replace(role="gold" if item.row in own else "random") for item in items]
        context = finish(roles, n_tokens, budget, length, ran_out)
        flags = answer_flags(target["answers"], target["answer_kind"])
        rows.append(_plan(target["id"], name, build.recipe.shared(length), context, flags))
    return rows


def _filler(build: Build, name: str, group: Group, budget: int, answer_filter: AnswerFilter) -> list[Text]:
    """Random passages that leak nothing about any query of the group."""
    words = budget * 3 // 2
    drawn = random_rows(build.recipe.seed, name, build.corpus, {p.row for p in group.gold}, words)
    texts = [text_at(build.corpus, row) for row in drawn]
    reasons = drop_reasons(texts, group.gold, group.barred, group.answers, answer_filter)
    return [text for text, reason in zip(texts, reasons, strict=True) if reason is None]
