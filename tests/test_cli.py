"""What a user types, right and wrong: one clear line, exit code 2, and nothing half-written."""

import errno
import json
import sys
from pathlib import Path

import pytest

import icr2_cli
from builders.work import only_one
from tests.builders.tiny import write_tiny_kilt


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["icr2", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        icr2_cli.main()
    return int(stop.value.code or 0)


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    return write_tiny_kilt(tmp_path / "kilt")


@pytest.fixture
def build(recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Builds the tiny recipe with changed files or settings and returns exit code and what the error output says."""

    def go(*arguments: object) -> tuple[int, str]:
        code = run(monkeypatch, "build", recipe, "--out", tmp_path / "out", "--workers", 1, *arguments)
        return code, capsys.readouterr().err

    return go


def errors(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("error:")]


def edit(path: Path, change) -> None:
    lines = path.read_text().splitlines()
    path.write_text("\n".join(change(lines)) + "\n")


def first_record(change):
    def changed(lines: list[str]) -> list[str]:
        record = json.loads(lines[0])
        change(record)
        return [json.dumps(record), *lines[1:]]

    return changed


@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("pages.jsonl", lambda lines: [*lines[:4], lines[4][:40], *lines[5:]], "pages.jsonl, line 5"),
        ("nq.jsonl", lambda lines: ["[1, 2]", *lines[1:]], "nq.jsonl"),
        ("nq.jsonl", lambda lines: [lines[0], lines[0], *lines[1:]], "nq-00 occur in several"),
        ("pages.jsonl", lambda lines: [*lines, lines[0]], "several pages with id 0"),
        ("nq.jsonl", first_record(lambda r: r.update(input=7)), "input"),
        ("pages.jsonl", first_record(lambda r: r.update(text="all in one")), "text"),
        ("pages.jsonl", lambda lines: [], "no page"),
    ],
)
def test_broken_input(build, recipe: Path, tmp_path: Path, file: str, change, says: str) -> None:
    edit(recipe.parent / file, change)
    code, err = build()
    assert code == 2
    assert len(errors(err)) == 1
    assert says in errors(err)[0]
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("knowledge.path=nowhere.jsonl", "nowhere.jsonl"),
        ("tokenizer=nowhere", "nowhere"),
        ("lengths=[64]", "use 512 to 16m"),
        ("ratios=[150]", "less than or equal to 100"),
        ("chunk=5", "did you mean chunk_words"),
        ("runs=nowhere", "nowhere"),
        ("knowledge.reader=kiltt", "kilt"),
        ("knowledge.rows=9", "has 240 records"),
        ("knowledge.sha256=" + "ab" * 32, "abab"),
    ],
)
def test_wrong_settings(build, tmp_path: Path, setting: str, says: str) -> None:
    code, err = build("--set", setting)
    assert (code, len(errors(err))) == (2, 1), err
    assert says in errors(err)[0]
    assert not (tmp_path / "out").exists()


def test_after_the_mend_the_build_goes_on(build, recipe: Path, tmp_path: Path) -> None:
    whole = (recipe.parent / "fever.jsonl").read_text()
    edit(recipe.parent / "fever.jsonl", lambda lines: ["{", *lines[1:]])
    assert build()[0] == 2
    (recipe.parent / "fever.jsonl").write_text(whole)
    pages = next((tmp_path / "out.work/stages").glob("pages-*")) / "all"
    made = pages.stat().st_mtime
    assert build()[0] == 0
    assert pages.stat().st_mtime == made


def test_a_folder_that_is_no_dataset_is_not_replaced(build, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").touch()
    code, err = build("--limit", 1)
    assert code == 2
    assert "is not a dataset" in errors(err)[0]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_another_dataset_is_replaced_only_with_overwrite(build, tmp_path: Path, monkeypatch, recipe, capsys) -> None:
    small = ["--set", "lengths=[1k]", "--set", "loft=[]", "--limit", 1]
    assert build(*small)[0] == 0
    code, err = build(*small, "--set", "name=other")
    assert (code, len(errors(err))) == (2, 1)
    assert "holds the dataset 'tiny', not 'other'" in errors(err)[0]
    assert build(*small, "--set", "name=other", "--overwrite")[0] == 0
    assert (
        run(monkeypatch, "build", recipe, "--out", tmp_path / "out", "--workers", 1, *small, "--set", "name=other") == 0
    )
    assert f"unchanged: other 1.0.0 is in {tmp_path}/out already" in capsys.readouterr().out


@pytest.mark.parametrize("out", ["/", "x" * 300, "."])
def test_an_output_folder_that_cannot_be_is_one_line(out: str, recipe: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(recipe.parent)
    assert run(monkeypatch, "build", recipe, "--out", out) == 2
    assert len(errors(capsys.readouterr().err)) == 1
    assert [path.name for path in recipe.parents[1].iterdir()] == ["kilt"]


def test_a_folder_that_cannot_be_written_to(recipe: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    (tmp_path / "file").touch()
    assert run(monkeypatch, "build", recipe, "--out", tmp_path / "file" / "out") == 2
    assert "cannot write" in capsys.readouterr().err


def test_what_a_dataset_answers(build, tmp_path: Path, monkeypatch, capsys) -> None:
    assert build()[0] == 0
    out = tmp_path / "out"
    assert run(monkeypatch, "sql", out, "SELECT count(*) AS n FROM \"1k_p50\" WHERE split = 'test'", "--csv") == 0
    assert capsys.readouterr().out == "n\n18\n"
    assert run(monkeypatch, "show", out, "1k_p50", "nq-03") == 0
    shown = capsys.readouterr().out
    assert "nq number 3?" in shown
    assert "(gold)" in shown
    assert "(confounder, " in shown
    with monkeypatch.context() as few:
        few.setattr("builders.show.MOST", 1)
        assert run(few, "show", out, "1k_p50", "nq-03") == 0
        cut = capsys.readouterr().out
        assert run(few, "show", out, "1k_p50", "nq-03", "--all") == 0
    assert capsys.readouterr().out == shown
    assert "(gold)" in cut and "of which 1 and gold are shown; --all shows each" in cut
    assert cut.count("\n[") < shown.count("\n[")
    assert run(monkeypatch, "figure", out, tmp_path / "f.png", "--length", "1k") == 0
    assert (tmp_path / "f.png").stat().st_size > 5000
    capsys.readouterr()
    for arguments, says in [
        (("sql", out, "SELEC 1"), "DuckDB"),
        (("sql", tmp_path, "SELECT 1"), "is not a dataset"),
        (("show", out, "9k_p50", "nq-03"), "1k_p50"),
        (("show", out, "1k_p50", "nq-3"), "ids look like"),
        (("figure", out, tmp_path / "f.png", "--length", "9k"), "no config of length"),
    ]:
        assert run(monkeypatch, *arguments) == 2
        assert says in capsys.readouterr().err


def test_load_dataset_reads_every_config(build, tmp_path: Path) -> None:
    """Paths are listed one by one, and each file is in its split alone."""
    from datasets import get_dataset_config_names, load_dataset

    assert build()[0] == 0
    out = str(tmp_path / "out")
    configs = get_dataset_config_names(out)
    assert configs == [f"{length}_p{ratio}" for length in ("1k", "2k") for ratio in (0, 50, 75, 100)] + ["loft_2k"]
    for config in configs:
        loaded = load_dataset(out, config, cache_dir=str(tmp_path / "cache"))
        assert {split: len(rows) for split, rows in loaded.items()} == {"test": 18, "validation": 12, "train": 12}
        last = loaded["test"].select([17])[0]
        assert last["passages"][last["gold"][0]]["role"] == "gold"


def test_doctor_and_help(monkeypatch, capsys) -> None:
    assert run(monkeypatch, "doctor") == 0
    report = capsys.readouterr().out
    assert all(word in report for word in ("Java", "device", "smollm2", "minilm", "intros", "pyarrow"))
    assert run(monkeypatch, "--help") == 0
    assert "build" in capsys.readouterr().out


def test_a_full_disk_is_one_line(build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, table: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("builders.stages.candidates.write_table", full)
    code, err = build()
    assert code == 2
    assert "the disk is full" in errors(err)[0]
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    assert build()[0] == 0


@pytest.mark.parametrize("name", ["kilt", "frames"])
def test_a_dry_run_of_a_build_downloads_nothing(name: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("builders.sources.fetch.urlopen", lambda *_, **__: pytest.fail("asked the network"))
    assert run(monkeypatch, "build", name, "--out", tmp_path / "out", "--dry-run") == 0
    assert "to download first: http" in capsys.readouterr().out
    assert not any(tmp_path.iterdir())


def test_two_builds_do_not_share_a_work_folder(build, tmp_path: Path) -> None:
    (tmp_path / "out.work").mkdir()
    with only_one(tmp_path / "out.work"):
        code, err = build()
    assert code == 2
    assert "another build is running in" in errors(err)[0]
    assert build()[0] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["validate", "x", "--confg", "1k_p0"], "No such option: --confg"),
        (["validat"], "No such command 'validat'"),
        (["build", "demo", "--limit", "few"], "Invalid value for '--limit'"),
        (["eval", "x", "--config", "1k_p0"], "Missing option '--model'"),
    ],
)
def test_what_is_wrong_with_a_command_is_one_line(
    arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *arguments) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"error: {says}")
    assert said[0].endswith("--help")


def test_nothing_asked_is_answered_with_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch) == 2
    told = capsys.readouterr()
    assert "Usage: icr2" in told.out + told.err
    assert "error" not in told.err


@pytest.mark.parametrize("command", ["card", "show", "figure", "view", "sql"])
@pytest.mark.parametrize("keep_footer", [True, False])
def test_a_broken_file_of_a_dataset_is_one_line(
    command: str, keep_footer: bool, build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    assert build("--set", "lengths=[1k]", "--set", "loft=[]", "--limit", 1)[0] == 0
    folder = tmp_path / "out"
    for path in folder.rglob("*.parquet"):
        content = path.read_bytes()
        footer = int.from_bytes(content[-8:-4], "little") + 8
        path.write_bytes(bytes(len(content) - footer) + content[-footer:] if keep_footer else b"PAR1")
    more = {
        "show": ["1k_p0", "nq-00"],
        "figure": [tmp_path / "a.png", "--length", "1k"],
        "view": ["--out", tmp_path / "view.html"],
        "sql": ["SELECT sum(len(query)) FROM all_configs"],
    }
    assert run(monkeypatch, command, folder, *more.get(command, [])) == 2
    assert len(errors(capsys.readouterr().err)) == 1
    assert not {path.name for path in folder.iterdir()} & {"statistics.json", "croissant.json"}
