"""Refusals before anything is sent, each in one line that names the command to run."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from rich.console import Console

from builders.errors import SetupError
from dataset_cards.front_matter import head_of
from dataset_cards.release import Release, checked_release, content_of
from tests.dataset_cards.cards import join_card, split_card
from tests.dataset_cards.ready import make_ready, manifest_of, write

CONFIGS = [f"{length}_p{ratio}" for length in ("1k", "2k") for ratio in (0, 50, 75, 100)] + ["loft_2k"]


def checked(folder: Path, version: str | None = None) -> Release:
    return checked_release(folder, version, Console(quiet=True))


def edited(name: str, **values: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        value = json.loads((folder / name).read_text())
        write(folder / name, {**value, **values})

    return edit


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def with_card(change: Callable[[list[dict]], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        head, body = split_card((folder / "README.md").read_text())
        change(head["configs"])
        (folder / "README.md").write_text(join_card(head, body))

    return edit


def of_version(version: object) -> Callable[[Path], None]:
    return lambda folder: make_ready(folder, {**manifest_of(folder), "version": version}) and None


def renamed(old: str, new: str) -> Callable[[Path], None]:
    def rename(folder: Path) -> None:
        manifest = manifest_of(folder)
        manifest["configs"] = {new if name == old else name: files for name, files in manifest["configs"].items()}
        make_ready(folder, manifest)

    return rename


def of_split(split: str) -> Callable[[Path], None]:
    def rename(folder: Path) -> None:
        manifest = manifest_of(folder)
        splits = manifest["configs"]["1k_p0"]["files"]
        splits[split] = splits.pop("test")
        make_ready(folder, manifest)

    return rename


def change_a_byte(folder: Path) -> None:
    path = folder / "1k_p0/test-00000-of-00001.parquet"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


def test_a_release_holds_every_file_of_the_manifest_and_what_stands_beside(dataset: Path) -> None:
    (dataset / "figures").mkdir()
    (dataset / "figures/roles.png").write_bytes(b"png")
    (dataset / "figures/notes.txt").write_text("not published")
    write(dataset / "croissant.json", {})
    release = checked(dataset)
    data = {
        f"{config}/{split}-00000-of-00001.parquet" for config in CONFIGS for split in ("test", "train", "validation")
    }
    beside = {"manifest.json", "validation.json", "statistics.json", "croissant.json", "figures/roles.png"}
    assert release.files.keys() == data | beside
    assert release.files["croissant.json"].sha256 == sha256(b"{}").hexdigest()
    assert release.tag == "v1.0.0"
    assert list(release.configs) == CONFIGS


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        pytest.param(without("manifest.json"), "no manifest.json; run: icr2 build", id="no manifest"),
        pytest.param(without("validation.json"), "validation.json is missing; run: icr2 validate", id="not validated"),
        pytest.param(
            edited("validation.json", manifest_sha256="0"), "another manifest; run: icr2 validate", id="old validation"
        ),
        pytest.param(
            edited(
                "validation.json",
                passed=False,
                checks=[
                    {"name": "gold_overlap", "severity": "error", "status": "failed"},
                    {"name": "retriever_shares", "severity": "warning", "status": "failed"},
                ],
            ),
            r"did not validate \(gold_overlap failed\)",
            id="failed",
        ),
        pytest.param(edited("validation.json", complete=False), "skips checks or configs", id="incomplete"),
        pytest.param(
            edited("validation.json", checks=[]), "comes from an older suite, without answer_in_context", id="old suite"
        ),
        pytest.param(without("statistics.json"), "statistics.json is missing; run: icr2 card", id="no statistics"),
        pytest.param(
            edited("statistics.json", manifest_sha256="0"), "another manifest; run: icr2 card", id="old statistics"
        ),
        pytest.param(without("README.md"), "README.md is missing; run: icr2 card", id="no card"),
        pytest.param(without("1k_p0/test-00000-of-00001.parquet"), "is missing, and the manifest", id="no file"),
        pytest.param(change_a_byte, "was changed after the build", id="changed file"),
        pytest.param(of_version("1.0"), "version is '1.0'; set one such as 1.0.0", id="no semver"),
        pytest.param(of_version(1.1), "version: found 1.1", id="version is a number"),
        pytest.param(renamed("1k_p0", "nq-32k"), "found 'nq-32k'", id="config with a dash"),
        pytest.param(of_split("c25%"), "found 'c25%'", id="split with a percent sign"),
        pytest.param(of_split("nq-32k"), "found 'nq-32k'", id="split with a dash"),
        pytest.param(
            with_card(lambda configs: configs.append(configs[0])), "lists config 1k_p0 twice", id="name twice"
        ),
        pytest.param(with_card(lambda configs: configs[0].update(data_dir="1k_p0")), "a data_dir", id="data_dir"),
        pytest.param(
            with_card(lambda configs: configs[0]["data_files"][0].update(path="1k_p0/none.parquet")),
            "does not list the manifest's files for 1k_p0; run: icr2 card",
            id="missing file",
        ),
        pytest.param(
            with_card(lambda configs: configs[0]["data_files"][0].update(path="1k*/*.parquet")),
            "does not list the manifest's files for 1k_p0",
            id="pattern",
        ),
        pytest.param(with_card(lambda configs: configs.pop()), "files for loft_2k", id="config not listed"),
        pytest.param(
            lambda folder: (folder / "README.md").write_text("---\nconfigs: [\n---\n"), "does not parse", id="bad YAML"
        ),
    ],
)
def test_refusals(spoil: Callable[[Path], object], says: str, dataset: Path) -> None:
    spoil(dataset)
    with pytest.raises(SetupError, match=says) as refusal:
        checked(dataset)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("split", ["ratio_0.25", "nq_32k"])
def test_names_that_datasets_takes(split: str, dataset: Path) -> None:
    """Names become paths and configs."""
    of_split(split)(dataset)
    assert split in checked(dataset).configs["1k_p0"]


def test_the_version_is_set_in_the_recipe(dataset: Path) -> None:
    assert checked(dataset, "1.0.0").version == checked(dataset, "v1.0.0").version == "1.0.0"
    with pytest.raises(SetupError, match=r"the dataset is 1.0.0; set the version in the recipe"):
        checked(dataset, "1.0.1")


def test_versions_stay_strings(dataset: Path) -> None:
    """1.10 is not 1.1."""
    of_version("1.10.0")(dataset)
    release = checked(dataset)
    assert (release.version, release.tag) == ("1.10.0", "v1.10.0")
    for version in ("1.10", "1.10.0"):
        assert head_of(join_card({"version": version}, "")) == {"version": version}


def test_one_path_for_a_split_may_be_text(dataset: Path) -> None:
    def flatten(configs: list[dict]) -> None:
        for config in configs:
            for entry in config["data_files"]:
                (entry["path"],) = entry["path"]

    with_card(flatten)(dataset)
    assert checked(dataset).configs["1k_p0"]["test"] == ["1k_p0/test-00000-of-00001.parquet"]


def test_blob_ids_are_those_of_git() -> None:
    # git hash-object --stdin
    assert content_of(b"two\n").blob_id() == "f719efd430d52bcfc8566a43b2eb655688d38871"


def test_a_moved_copy_is_checked_like_the_original(dataset: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(dataset, tmp_path / "elsewhere")
    assert checked(moved).files.keys() == checked(dataset).files.keys()
