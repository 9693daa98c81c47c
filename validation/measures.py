"""A dataset as tables that the checks query: filled shard by shard, on disk; DuckDB takes at most MEMORY.

- `configs`    the manifest's facts about each config
- `tasks`      the manifest's facts about each task, and whether its answers are `extractive`
- `labels`     task, label, key (without capitals)
- `files`      file, config, split, path
- `instances`  one row of the dataset each: `row` (its number here), config, split, `question`, facts of its config;
               `row_config` is the config stored in the row, `control` a haystack without needle
- `questions`  each distinct query with its answers, over all configs: question_id, task, query, query_normal,
               query_marked, waived (its answers are not text, so no passage is searched for them)
- `answers`    question, answer, normal, marked, plain, `article` (it is only an article), `has_mark`
- `placements` one passage of one row each: row, position, pid, `text`, role, retrievers, rank, score, is_gold
- `texts`      each distinct title and text: text, title, body, and both as words with their marks, normal,
               and marked, which is null where it equals normal
- `others`     each distinct pair of question and non-gold text
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from builders.errors import SetupError
from builders.sql import literal, read_parquet
from validation.dataset import Dataset, File, enough, nested
from validation.normal import folded_sql, has_mark_sql, marked_words_sql, normal_sql, plain_sql, words_sql

MEMORY = "450MB"  # for DuckDB, which spills the rest to disk
NOT_TEXT = "coalesce(answer_kind, 'text') != 'text'"

Progress = Callable[[str], None]

_TABLES = """
CREATE TABLE files (file INTEGER, config VARCHAR, split VARCHAR, path VARCHAR);
CREATE TABLE configs (
    config VARCHAR, family VARCHAR, length VARCHAR, ratio INTEGER, budget INTEGER, most INTEGER, enough DOUBLE,
    nested BOOLEAN, synthetic BOOLEAN, rank INTEGER);
CREATE TABLE tasks (task VARCHAR, kind VARCHAR, extractive BOOLEAN);
CREATE TABLE labels (task VARCHAR, label VARCHAR, key VARCHAR);
CREATE TABLE raw (
    "row" BIGINT, file INTEGER, id VARCHAR, row_config VARCHAR, question_id VARCHAR, context_id VARCHAR, task VARCHAR,
    kind VARCHAR, query VARCHAR, answers VARCHAR[], answer_kind VARCHAR, n_passages INTEGER, gold INTEGER[],
    depth INTEGER, n_tokens INTEGER, confounding_ratio DOUBLE, hops INTEGER, reasoning_types VARCHAR[],
    flags VARCHAR[]);
CREATE TABLE keyed (
    "row" BIGINT, "position" INTEGER, pid VARCHAR, key UHUGEINT, role VARCHAR, retrievers VARCHAR[], rank INTEGER,
    score DOUBLE, is_gold BOOLEAN, empty BOOLEAN);
CREATE TABLE contents (key UHUGEINT, title VARCHAR, body VARCHAR);
"""

_KEY = "md5_number(coalesce(p.title, '') || chr(31) || coalesce(p.text, ''))"


class Measures:
    """The tables of one dataset; `figures` has numbers that checks report along with their findings."""

    def __init__(
        self, dataset: Dataset, connection: duckdb.DuckDBPyConnection, unreadable: dict[str, str] | None = None
    ) -> None:
        self.dataset = dataset
        self.unreadable = unreadable or {}  # files by path that are in no table, and why
        self.connection = connection
        self.doing = "reading the dataset"  # or a check
        self.figures: dict[str, dict[str, Any]] = {}
        self.folder = tempfile.gettempdir()  # of the database
        self.once: set[str] = set()  # tables shared by several checks, created on first use

    def sql(self, query: str, parameters: object = None) -> list[tuple]:
        """The rows of a query."""
        return self.connection.execute(query, parameters).fetchall()

    def keep(self, name: str, table: pa.Table) -> None:
        """Creates a table of values computed outside of SQL."""
        self.connection.register("given", table)
        self.connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM given")
        self.connection.unregister("given")

    def found(self, check: str, rows: list[tuple[Any, ...]], names: str = "config split id pid detail") -> str:
        """SQL of findings computed outside of SQL."""
        columns = names.split()
        values = list(zip(*rows, strict=True)) or [()] * len(columns)
        types = [pa.int64() if name == "row" else pa.string() for name in columns]
        arrays = [pa.array(column, type) for column, type in zip(values, types, strict=True)]
        self.keep(f"found_{check}", pa.table(arrays, names=columns))
        return f"SELECT * FROM found_{check}"

    def shared(self, name: str, query: str) -> str:
        """The name of a table that several checks read, created from `query` on first use."""
        if name not in self.once:
            self.connection.execute(f"CREATE TABLE {name} AS {query}")
            self.once.add(name)
        return name


@contextmanager
def measured(
    dataset: Dataset, unreadable: dict[str, str], progress: Progress, memory: str = MEMORY
) -> Iterator[Measures]:
    """Measures of all files but the unreadable ones, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="icr2-validate-") as folder:
        connection, measures = None, None
        try:
            connection = duckdb.connect(str(Path(folder) / "measures.duckdb"))
            connection.execute(
                f"SET memory_limit = {literal(memory)}; SET temp_directory = {literal(f'{folder}/spill')}"
            )
            connection.execute(f"SET threads = {min(4, os.cpu_count() or 1)}; SET preserve_insertion_order = false")
            connection.execute("SET enable_progress_bar = false")
            measures = Measures(dataset, connection, unreadable)
            measures.folder = folder
            _fill(measures, progress)
            yield measures
        except duckdb.Error as error:
            if not _of_the_disk(error, folder):
                if not isinstance(error, duckdb.OutOfMemoryException):
                    raise
                doing = measures.doing if measures else "opening the database"
                raise SetupError(
                    f"{doing} needs more than {memory} of memory; give it more, such as --memory 4GB, or "
                    "leave a check out with --skip"
                ) from None
            free = shutil.disk_usage(folder).free // 2**20
            raise SetupError(
                f"{folder}: cannot write more, {free:,} MiB free; set TMPDIR to a larger folder, or raise ulimit -f"
            ) from None
        finally:
            if connection is not None:
                with suppress(duckdb.Error):  # it writes once more
                    connection.close()


def _of_the_disk(error: duckdb.Error, folder: str) -> bool:
    """Whether DuckDB could not write its own files, rather than read the dataset's."""
    said = str(error)
    return "space" in said.lower() or folder in said or "File too large" in said or "invalidated" in said


def _fill(measures: Measures, progress: Progress) -> None:
    connection, dataset = measures.connection, measures.dataset
    connection.execute(_TABLES)
    _fill_facts(connection, dataset)
    start = 0
    for number, file in enumerate(file for file in dataset.files if file.path not in measures.unreadable):
        progress(f"reading {file.path}")
        connection.execute("BEGIN TRANSACTION")
        try:
            rows = _read(connection, number, dataset, file, start)
            connection.execute("INSERT INTO files VALUES (?, ?, ?, ?)", [number, file.config, file.split, file.path])
            connection.execute("COMMIT")
            start += rows
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.OutOfMemoryException):
            raise  # not caused by a file
        except duckdb.Error as error:
            if _of_the_disk(error, measures.folder):
                raise
            connection.execute("ROLLBACK")  # its footer is readable, its data is not
            measures.unreadable[file.path] = f"cannot be read: {str(error).splitlines()[0][:120]}"
    progress("normalising texts")
    for statement in _DERIVED:
        connection.execute(statement)


def _fill_facts(connection: duckdb.DuckDBPyConnection, dataset: Dataset) -> None:
    for rank, name in enumerate(dataset.configs):
        config = dataset.manifest.configs[name]
        facts = [config.family, config.length, config.ratio, config.budget, config.passages]
        connection.execute(
            "INSERT INTO configs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [name, *facts, enough(config), nested(config), config.synthetic, rank],
        )
    for task in dataset.manifest.tasks.values():
        connection.execute("INSERT INTO tasks VALUES (?, ?, ?)", [task.name, task.kind, task.says.extractive])
        for label in task.labels:
            connection.execute("INSERT INTO labels VALUES (?, ?, ?)", [task.name, label, label.casefold()])


def _read(connection: duckdb.DuckDBPyConnection, number: int, dataset: Dataset, file: File, start: int) -> int:
    """Adds a file's rows, their passages, and new texts; returns the number of rows."""
    parquet = read_parquet([dataset.folder / file.path], "file_row_number = true")
    source = dataset.manifest.rows_sql(parquet, file.config, also=["file_row_number"])
    rows = f'SELECT file_row_number + {start} AS "row", * FROM {source}'
    passages = (
        f"""SELECT "row", gold, unnest(passages) AS p, unnest(range(len(passages))) AS "position" FROM ({rows})"""
    )
    connection.execute(
        f"""INSERT INTO raw SELECT "row", {number}, id, config, question_id, context_id, task, kind, query, answers,
            answer_kind, coalesce(len(passages), 0), gold, depth, n_tokens, confounding_ratio, hops, reasoning_types,
            flags FROM ({rows})""",
    )
    connection.execute(
        f"""INSERT INTO keyed SELECT "row", "position", p.pid, {_KEY}, p.role, p.retrievers, p.rank, p.score,
            coalesce(list_contains(gold, "position"), false), coalesce(trim(p.text), '') = '' OR p.title IS NULL
            FROM ({passages})""",
    )
    connection.execute(
        f"""INSERT INTO contents SELECT key, any_value(title), any_value(body) FROM (
                SELECT {_KEY} AS key, coalesce(p.title, '') AS title, coalesce(p.text, '') AS body FROM ({passages}))
            WHERE key NOT IN (SELECT key FROM contents) GROUP BY key""",
    )
    return connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]


_DERIVED = [
    f"""CREATE TABLE texts AS
    SELECT text, key, title, body, title_words, words, {normal_sql("title_bare")} AS title_normal,
           {normal_sql("bare")} AS normal, nullif({normal_sql("title_words")}, title_normal) AS title_marked,
           nullif({normal_sql("words")}, normal) AS marked
    FROM (SELECT *, {marked_words_sql("title_folded", "title_bare")} AS title_words,
                 {marked_words_sql("folded", "bare")} AS words
          FROM (SELECT *, {words_sql("title_folded")} AS title_bare, {words_sql("folded")} AS bare
                FROM (SELECT (row_number() OVER (ORDER BY key))::INTEGER AS text, key, title, body,
                             {folded_sql("title")} AS title_folded, {folded_sql("body")} AS folded FROM contents)))""",
    "DROP TABLE contents",
    """CREATE TABLE placements AS
    SELECT "row", "position", pid, text, role, retrievers, rank, score, is_gold, empty
    FROM keyed JOIN texts USING (key)""",
    "DROP TABLE keyed",
    f"""CREATE TABLE questions AS
    SELECT (row_number() OVER (ORDER BY question_id, task, query, answers, hops, answer_kind))::INTEGER AS question, *,
           {NOT_TEXT} AS waived, {normal_sql("query_bare")} AS query_normal, {normal_sql("query_words")} AS query_marked
    FROM (SELECT *, {marked_words_sql("query_folded", "query_bare")} AS query_words
          FROM (SELECT *, {words_sql("query_folded")} AS query_bare
                FROM (SELECT DISTINCT question_id, task, query, answers, hops, answer_kind,
                             {folded_sql("query")} AS query_folded FROM raw)))""",
    f"""CREATE TABLE answers AS
    SELECT DISTINCT question, answer, normal, marked, {plain_sql("normal")} AS plain,
           regexp_full_match(marked, '((a|an|the) ?)+') AS article, {has_mark_sql("marked")} AS has_mark
    FROM (SELECT question, answer, {normal_sql("bare")} AS normal, {normal_sql("words")} AS marked
          FROM (SELECT *, {marked_words_sql("folded", "bare")} AS words
                FROM (SELECT *, {words_sql("folded")} AS bare
                      FROM (SELECT question, answer, {folded_sql("answer")} AS folded
                            FROM (SELECT question, unnest(answers) AS answer FROM questions)
                            WHERE answer IS NOT NULL))))
    WHERE normal != ''""",
    """CREATE TABLE instances AS
    SELECT "row", f.config, f.split, r.id, r.row_config, r.question_id, r.context_id, r.task, r.kind, r.answer_kind,
           q.question, r.n_passages, r.gold, r.depth, r.n_tokens, r.confounding_ratio, r.reasoning_types, r.flags,
           q.waived, coalesce(t.extractive, false) AS extractive, length, ratio, budget, most, enough,
           coalesce(r.n_passages >= c.most, false) AS capped,
           c.rank AS config_rank, c.family, c.nested, c.family = 'loft' AS shared, c.synthetic,
           c.family = 'needles' AND depth IS NULL AND coalesce(len(r.gold), 0) = 0 AS control
    FROM raw r JOIN files f USING (file) JOIN configs c USING (config) LEFT JOIN tasks t ON t.task = r.task
    JOIN questions q ON q.question_id IS NOT DISTINCT FROM r.question_id AND q.task IS NOT DISTINCT FROM r.task
     AND q.query IS NOT DISTINCT FROM r.query AND q.answers IS NOT DISTINCT FROM r.answers
     AND q.hops IS NOT DISTINCT FROM r.hops AND q.answer_kind IS NOT DISTINCT FROM r.answer_kind""",
    "DROP TABLE raw",
    """CREATE TABLE others AS
    SELECT DISTINCT question, text FROM placements JOIN instances USING ("row") WHERE NOT is_gold""",
]
