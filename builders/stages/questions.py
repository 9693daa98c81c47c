"""Questions with their gold, dealt into splits, in shards of fixed size."""

from collections import Counter
from pathlib import Path

import pyarrow as pa

from builders.answers import answerable
from builders.config import Task
from builders.engine import Tick
from builders.errors import SetupError
from builders.files import read_table, write_table
from builders.gold import UNANSWERED, gold_rows, page_numbers_by_title, resolve, warned
from builders.schema import QUESTIONS, SPLITS, TARGETS, Question, Quote, Span, Target
from builders.sources import QUESTION_READERS, gold_of
from builders.split import Splitter, checked_ids
from builders.work import Build, Counts, Shard

QUESTIONS_PER_PART = 64


def plan_questions(build: Build) -> list[Shard]:
    """One shard, a folder of parts, for each task."""
    return [Shard(task, task) for task in build.recipe.tasks]


def make_questions(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the questions of one task's splits; unusable records are counted by reason."""
    task_name, task, limit = shard.name, build.recipe.tasks[shard.name], build.recipe.limit
    counts: Counter[str] = Counter()
    usable = {name: _usable(build, task, task_name, name, counts) for name in task.files}
    splitter = Splitter(build.recipe.seed)
    out.mkdir()
    for split in SPLITS:
        if take := task.take.get(split):
            n = min(take.n, limit or take.n)
            questions = splitter.take(usable[take.source], n, counts)
            counts[f"{split}_questions"] += len(questions)
            for part, start in enumerate(range(0, len(questions), QUESTIONS_PER_PART)):
                table = _table(questions[start : start + QUESTIONS_PER_PART], split)
                write_table(out / _part_name(task_name, split, f"{part:05d}"), table)
    return dict(+counts)


def _part_name(task: str, split: str, part: str) -> str:
    return f"{task}-{split}-{part}.arrow"


def _usable(build: Build, task: Task, task_name: str, file: str, counts: Counter[str]) -> list[Question]:
    source = task.files[file]
    path = build.inputs[f"tasks.{task_name}.{file}"].path
    before = counts["read"]
    found = list(QUESTION_READERS[source.reader](path, task_name, counts))
    checked_ids(found, path.name)
    if source.rows and (read := counts["read"] - before) != source.rows:
        raise SetupError(f"{path} has {read} records, and the recipe says {source.rows}")
    spec, mode = task.spec(task_name), gold_of(task)
    questions = answerable(found, spec, counts)
    titles = page_numbers_by_title(build.corpus, {quote.title for q in questions for quote in q.quotes})
    usable = []
    for question in questions:
        resolved, reasons = resolve(question, build.corpus, titles, needs_all=mode == "all")
        counts.update(reasons)
        if resolved is None:
            continue
        if task.gold_without_answer == "drop":
            gold, _ = gold_rows(resolved, build.corpus, mode)
            if UNANSWERED in warned(resolved, gold, build.corpus, spec.says.extractive).flags:
                counts[UNANSWERED] += 1
                continue
        usable.append(resolved)
    return usable


def _table(questions: list[Question], split: str) -> pa.Table:
    rows = [
        {**question._asdict(), "split": split, "provenance": [span._asdict() for span in question.provenance]}
        for question in questions
    ]
    return pa.Table.from_pylist(rows, schema=QUESTIONS)


def questions_of(table: pa.Table) -> list[Question]:
    """The questions of a table of schema.QUESTIONS or schema.TARGETS."""
    return [
        Question(
            **{name: row[name] for name in Question._fields if name not in ("provenance", "quotes", "flags")},
            provenance=[Span(**span) for span in row["provenance"]],
            quotes=tuple[Quote, ...](),
            flags=tuple(row["flags"]),
        )
        for row in table.to_pylist()
    ]


def targets_of(table: pa.Table) -> list[Target]:
    """The records of a table of schema.TARGETS."""
    columns = (table.column(name).to_pylist() for name in ("gold", "barred"))
    return [Target(*record) for record in zip(questions_of(table), *columns, strict=True)]


def plan_gold(build: Build) -> list[Shard]:
    """One shard for each part of questions, tasks in the recipe's order, then splits; SetupError without a question."""
    shards = [
        Shard(path.name, task, split)
        for task in build.recipe.tasks
        for split in SPLITS
        for path in sorted(build.path("questions", task).glob(_part_name(task, split, "*")))
    ]
    if not shards:
        counts = build.counts("questions").items()
        own = ("read", "too_few")  # the others, but for those of single spans, are why a question was left out
        reasons = [f"{why} {n:,}" for why, n in sorted(counts) if n and why not in own and not why.startswith("span_")]
        raise SetupError(f"no question is left: {', '.join(reasons) or 'the sources have none'}")
    return shards


def make_gold(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Adds each question's gold rows, the other rows that touch its provenance, and flags for what gold lacks."""
    task = build.recipe.tasks[shard.task]
    mode, extractive = gold_of(task), task.spec(shard.task).says.extractive
    table = read_table(build.path("questions", shard.task) / shard.name)
    asked = questions_of(table)
    found = [gold_rows(question, build.corpus, mode) for question in asked]
    flags = [
        list(warned(question, gold, build.corpus, extractive).flags)
        for question, (gold, _) in zip(asked, found, strict=True)
    ]
    table = table.set_column(
        table.schema.get_field_index("flags"), TARGETS.field("flags"), pa.array(flags, TARGETS.field("flags").type)
    )
    for name, rows in (("gold", [gold for gold, _ in found]), ("barred", [barred for _, barred in found])):
        table = table.append_column(TARGETS.field(name), pa.array(rows, TARGETS.field(name).type))
    write_table(out, table)
    return {"gold": sum(len(gold) for gold, _ in found), **Counter(flag for some in flags for flag in some)}
