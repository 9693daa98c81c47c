"""SQL of names and paths, and the command `icr2 sql`: what it reads, what it refuses, and what it prints."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.display import Terminal
from builders.errors import SetupError
from builders.schema import INSTANCES_1
from builders.sql import exact, identifier, literal, read_parquet
from builders.views import connect, run_sql
from tests.builders.test_views import ROWS
from tests.manifests import write_manifest


@pytest.mark.parametrize("name", ["a", 'x" AS SELECT 1; --', '""', "a b", "é"])
def test_quoted_names_and_texts_come_back_as_they_were(name: str) -> None:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE {identifier(name)} (a INT)")
    assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [(name,)]
    text = name + "' OR 1 = '"
    assert connection.execute(f"SELECT {literal(text)}").fetchall() == [(text,)]


NAMES = ["ds*", "ds?", "ds[1]", "ds[!a]", "ds{a,b}", "k=v", "b\\c", "q'x", 'q"x', "ds**", "%41"]


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_never_a_pattern(name: str, tmp_path: Path) -> None:
    for folder in ("ds1", "dsx", "dsa", "k=v", name):
        (tmp_path / folder).mkdir(exist_ok=True)
        pq.write_table(pa.table({"a": [folder]}), tmp_path / folder / "x.parquet")
    found = duckdb.sql(f"SELECT * FROM {read_parquet([tmp_path / name / 'x.parquet'])}").fetchall()
    assert found == [(name,)]  # no rows of the neighbours, and no column `k`


def test_a_path_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert exact(Path("http://host/a*.parquet")) == f"{tmp_path}/http:/host/a[*].parquet"


def dataset(folder: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    (folder / "1k_p50").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=INSTANCES_1), folder / "1k_p50/test-00000-of-00001.parquet")
    write_manifest(folder)
    return folder


@pytest.mark.parametrize("name", ["ds*", "ds?", "ds[1]", "ds [v1]", "a=b", "o'clock"])
def test_a_folder_of_any_name_has_only_its_own_rows(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for neighbour in ("ds1", "dsx", "dsy"):
        dataset(tmp_path / neighbour)
    folder = dataset(tmp_path / name, ROWS[:1])
    assert connect(folder).execute("SELECT count(*) FROM all_configs").fetchall() == [(1,)]
    run_sql(folder, "SELECT count(*) AS n FROM all_configs", True, Terminal())
    assert capsys.readouterr().out == "n\n1\n"


REFUSED = {
    "": "the query is empty; write one such as: SELECT count",
    " ; -- nothing": "the query is empty",
    "SELECT 1; SELECT 2": "found 2 statements, wanted one",
    "SELECT * FROM read_text('{file}')": "only the dataset's files can be read, --unsafe reads any file",
    "SELECT * FROM read_csv('{file}')": "only the dataset's files can be read",
    "SELECT * FROM glob('{folder}/*')": "only the dataset's files can be read",
    "COPY (SELECT 1) TO '{folder}/out.csv'": "found a statement of the kind COPY, wanted SELECT; --unsafe",
    "COPY (SELECT 1) TO '{parquet}' (USE_TMP_FILE false)": "of the kind COPY, wanted SELECT",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{parquet}' (USE_TMP_FILE false)": "of the kind EXPLAIN, wanted SELECT",
    "COPY (PIVOT all_configs ON task USING count(*)) TO '{parquet}' (USE_TMP_FILE false)": "wanted SELECT",
    "ATTACH '{folder}/a.db'": "of the kind ATTACH, wanted SELECT",
    "EXPORT DATABASE '{folder}/out'": "wanted SELECT",
    "INSTALL httpfs": "wanted SELECT",
    "SET enable_external_access = true": "of the kind SET, wanted SELECT",
    "SELECT * FROM 1k_p50": 'quote names that begin with a digit, such as "1k_p50"; views: "1k_p50", all_configs, and',
    "SELECT * FROM 1k_p51": 'quote names that begin with a digit, such as "1k_p50"',
    "SELECT * FROM nope": "no view 'nope'; views: \"1k_p50\", all_configs, and CONFIG_passages",
    "SELECT * FROM folder": "no view 'folder'; views",  # never a variable of this process
    "SELECT * FROM al_configs": "no view 'al_configs'; did you mean all_configs?; views",
    "SELECT queri FROM all_configs": 'Candidate bindings: "query"',
    "SELEC 1": "DuckDB: Parser Error: syntax error at or near",
    "SELECT error('[/INST]\x1b[1m')": "DuckDB: Invalid Input Error: [/INST]",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_sql_refuses_in_one_line(query: str, tmp_path: Path) -> None:
    folder = dataset(tmp_path / "data")
    (tmp_path / "secret").write_text("secret")
    parquet = folder / "1k_p50/test-00000-of-00001.parquet"
    before = parquet.read_bytes()
    with pytest.raises(SetupError) as refused:
        run_sql(folder, query.format(file=tmp_path / "secret", folder=tmp_path, parquet=parquet), False, Terminal())
    assert REFUSED[query] in str(refused.value) and "\n" not in str(refused.value) and "\x1b" not in str(refused.value)
    assert parquet.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "secret"]


def test_unsafe_reads_and_writes_any_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = dataset(tmp_path / "data")
    (tmp_path / "secret").write_text("secret")
    run_sql(folder, f"SELECT content FROM read_text('{tmp_path}/secret')", True, Terminal(), unsafe=True)
    assert capsys.readouterr().out == "content\nsecret\n"
    run_sql(folder, f"COPY (SELECT 1 AS a) TO '{tmp_path}/out.csv'", True, Terminal(), unsafe=True)
    assert (tmp_path / "out.csv").read_text() == "a\n1\n"


@pytest.mark.parametrize(
    "query",
    [
        "FROM all_configs SELECT count(*)",
        "WITH a AS (SELECT 3) FROM a",
        "SELECT count(DISTINCT id) FROM all_configs",
        "SELECT count(*) FROM (PIVOT (SELECT id, split FROM all_configs) ON split USING count(*))",
    ],
)
def test_what_reads_is_run(query: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_sql(dataset(tmp_path / "data"), query, True, Terminal())
    assert capsys.readouterr().out.splitlines()[1] == "3"


def test_data_is_printed_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["[citation needed] it was [bold]red[/bold]", "The tag [/INST] closes", "\x1b]0;title\x07", ":smile:"]
    values = ", ".join(f"({literal(text)})" for text in texts)
    folder = dataset(tmp_path / "data")
    run_sql(folder, f'SELECT t AS "[b]" FROM (VALUES {values}) AS v(t)', False, Terminal(width=100))
    out = capsys.readouterr().out
    assert "\x1b" not in out and "[b]" in out
    for shown in (*texts[:2], r"\x1b]0;title\x07", ":smile:"):
        assert shown in out
    run_sql(folder, f"SELECT t FROM (VALUES {values}) AS v(t)", True, Terminal())
    assert [line[0] for line in csv.reader(io.StringIO(capsys.readouterr().out))] == ["t", *texts]  # data for programs


def test_a_name_from_a_manifest_is_never_sql(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "data")
    target = tmp_path / "written"
    evil = f"x\" AS SELECT 1 AS id; COPY (SELECT 'a') TO '{target}'; --"
    values = json.loads((folder / "manifest.json").read_text())
    values["configs"] = {evil: values["configs"]["1k_p50"]}
    (folder / "manifest.json").write_text(json.dumps(values))
    with pytest.raises(SetupError, match="wanted lower-case letters, digits and _"):
        run_sql(folder, "SELECT 1", False, Terminal())
    assert not target.exists()


@pytest.mark.parametrize(
    ("column", "type_", "says"),
    [
        ("hops", pa.string(), "hops: found string, wanted int32"),
        ("answers", pa.string(), "answers: found string, wanted list<"),
        ("id", None, "lacks the columns id"),
        ("passages", pa.list_(pa.string()), "passages: found list<"),
    ],
)
def test_a_file_of_other_columns_is_named(column: str, type_: pa.DataType | None, says: str, tmp_path: Path) -> None:
    folder = dataset(tmp_path / "data")
    (path,) = folder.glob("*/*.parquet")
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    changed = table.remove_column(place)
    if type_ is not None:
        changed = changed.add_column(place, column, pa.nulls(len(table), type_))
    pq.write_table(changed, path)
    with pytest.raises(SetupError) as refused:
        connect(folder)
    assert str(refused.value).startswith(f"{path}") and says in str(refused.value)
    assert str(refused.value).endswith(f"see what is broken with: icr2 validate {folder}")
