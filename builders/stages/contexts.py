"""The contexts of every config: the passages of each row, their order, and the tokens of the prompt."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.corpus import Corpus
from builders.engine import Tick
from builders.files import read_table, write_table
from builders.filters import AnswerFilter, answer_flags, drop_reasons
from builders.loft import GOLD_SHARE, Group, Member, deal
from builders.mix import Context, Mixer, capped, finish, interleave, mixer_of
from builders.schema import PLANS, Found, Passage, Plan, Target
from builders.stages.candidates import random_rows, streams_of
from builders.stages.questions import targets_of
from builders.work import Build, Counts, Shard


def plan_mix(build: Build) -> list[Shard]:
    """One shard for each shard of questions; none if a recipe has only LOFT-style configs."""
    return build.shards("gold") if build.recipe.lengths else []


def make_mix(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the contexts of each question at every length and ratio."""
    recipe, corpus, mixer = build.recipe, build.corpus, mixer_of(build.recipe.tokenizer, build.recipe.seed)
    streams = streams_of(read_table(build.path("filter", shard.name)))
    plans, counts = [], Counter[str]()
    for question, gold_rows, _ in targets_of(read_table(build.path("gold", shard.name))):
        task, gold = recipe.spec(question.task), _gold(corpus, gold_rows)
        retrieved, random = (
            [*map(corpus.at, streams.get((question.id, role), []))] for role in ("confounder", "random")
        )
        flags = [*question.flags, *answer_flags(question.answers, question.answer_kind)]
        for ratio in recipe.ratios:
            stream = capped(interleave(retrieved, random, ratio), gold, recipe.passages)
            for length in recipe.lengths:
                budget = recipe.budget(length)
                fitted = mixer.context(task, [question.query], question.id, gold, stream, budget)
                if fitted is None:
                    counts[f"gold_over_budget_{length}"] += 1
                    continue
                items, (n_tokens,) = fitted
                ran_out = len(items) == len(gold) + len(stream)
                context = finish(items, n_tokens, budget, length, ran_out, recipe.passages)
                plans.append(_plan(question.id, question.id, recipe.mixed(length, ratio), context, flags))
                counts.update(context.flags)
    write_table(out, _table(plans))
    return dict(counts)


def _gold(corpus: Corpus, rows: Sequence[int]) -> list[Passage]:
    return [corpus.at(Found(row, "gold")) for row in rows]


def _plan(id: str, context_id: str, config: str, context: Context, flags: Sequence[str]) -> Plan:
    passages = [passage.found for passage in context.items]
    return Plan(id, context_id, config, passages, context.n_tokens, context.ratio, [*flags, *context.flags])


def _table(plans: Sequence[Plan]) -> pa.Table:
    rows = [{**plan._asdict(), "passages": [found._asdict() for found in plan.passages]} for plan in plans]
    return pa.Table.from_pylist(rows, schema=PLANS)


def plans_of(table: pa.Table) -> list[Plan]:
    """The records of a table of schema.PLANS."""
    return [Plan(**{**row, "passages": [*map(_found, row["passages"])]}) for row in table.to_pylist()]


def _found(stored: dict[str, Any]) -> Found:
    return Found(**{**stored, "retrievers": tuple(stored["retrievers"])})


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
        target.question.id: target
        for questions in build.shards("gold")
        if (questions.task, questions.split) == (shard.task, shard.split)
        for target in targets_of(read_table(build.path("gold", questions.name)))
    }
    members = [_member(build.corpus, mixer, target) for target in targets.values()]
    fitting = [member for member in members if member.tokens <= GOLD_SHARE * budget]
    answer_filter = AnswerFilter()
    groups = deal(fitting, int(GOLD_SHARE * budget), answer_filter)
    plans: list[Plan] = []
    for number, group in enumerate(groups):
        name = f"{shard.name}-{number:04d}"
        asked = [targets[member.id] for member in group]
        plans += _group_plans(build, mixer, name, group, asked, length, answer_filter)
        tick(number + 1, len(groups))
    write_table(out, _table(plans))
    left_out = len(members) - len(fitting)
    return {f"gold_over_budget_loft_{length}": left_out, "groups": len(groups)}


def _member(corpus: Corpus, mixer: Mixer, target: Target) -> Member:
    question, gold = target.question, _gold(corpus, target.gold)
    return Member(question.id, gold, target.barred, question.text_answers, sum(map(mixer.block_tokens, gold)))


def _group_plans(
    build: Build, mixer: Mixer, name: str, group: Group, targets: list[Target], length: str, answer_filter: AnswerFilter
) -> list[Plan]:
    recipe, budget, gold = build.recipe, build.recipe.budget(length), group.gold
    stream = _filler(build, name, group, budget, answer_filter)
    queries = [target.question.query for target in targets]
    fitted = mixer.context(recipe.spec(targets[0].question.task), queries, name, gold, stream, budget)
    if fitted is None:  # the gold fills at most GOLD_SHARE of the budget, so a query is longer than the rest
        return []
    items, counts = fitted
    ran_out = len(items) == len(gold) + len(stream)
    plans = []
    for (question, own, _), n_tokens in zip(targets, counts, strict=True):
        roles = [item._replace(role="gold" if item.row in own else "random") for item in items]
        context = finish(roles, n_tokens, budget, length, ran_out)
        flags = [*question.flags, *answer_flags(question.answers, question.answer_kind)]
        plans.append(_plan(question.id, name, recipe.shared(length), context, flags))
    return plans


def _filler(build: Build, name: str, group: Group, budget: int, answer_filter: AnswerFilter) -> list[Passage]:
    """Random passages that leak nothing about any query of the group."""
    words = budget * 3 // 2
    drawn = random_rows(build.recipe.seed, name, build.corpus, {passage.row for passage in group.gold}, words)
    passages = [*map(build.corpus.passage, drawn)]
    reasons = drop_reasons(passages, group.gold, group.barred, group.answers, answer_filter)
    return [passage for passage, reason in zip(passages, reasons, strict=True) if reason is None]
