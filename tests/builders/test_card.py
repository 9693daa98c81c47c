import yaml

from builders.card import card
from builders.manifest import Manifest


def manifest(version: str = "1.0.0") -> Manifest:
    of = {"rows": 1, "bytes": 1, "sha256": "0" * 64}
    files = {split: [{"path": f"nq/{split}-00000-of-00001.parquet", **of}] for split in ("test", "train")}
    hard = {"test": [{"path": f"nq_hard/test-0000{n}-of-00002.parquet", **of} for n in range(2)]}
    values = {
        "format": "icr2-manifest/2",
        "sha256": "0" * 64,
        "tasks": {"nq": {"name": "nq", "kind": "qa"}},
        "name": "tiny",
        "version": version,
        "language": "en",
        "recipe": {},
        "inputs": {"knowledge": {"licence": "cc-by-sa-4.0"}, "tasks.nq.dev": {}},
        "configs": {"nq": {"family": "icr2", "files": files}, "nq_hard": {"family": "icr2", "files": hard}},
    }
    return Manifest.model_validate(values)


def metadata(text: str) -> dict:
    return yaml.safe_load(text.split("---\n")[1])


def test_every_file_by_its_own_path() -> None:
    """No pattern, no data_dir, no repeated name."""
    configs = metadata(card(manifest()))["configs"]
    assert [config["config_name"] for config in configs] == ["nq", "nq_hard"]
    assert configs[0]["data_files"] == [
        {"split": "test", "path": ["nq/test-00000-of-00001.parquet"]},
        {"split": "train", "path": ["nq/train-00000-of-00001.parquet"]},
    ]
    assert configs[1]["data_files"][0]["path"] == [f"nq_hard/test-0000{n}-of-00002.parquet" for n in range(2)]
    assert "*" not in card(manifest())


def test_the_version_stays_what_it_is() -> None:
    """1.10 is not 1.1."""
    text = card(manifest("1.10.0"))
    assert metadata(text)["pretty_name"] == "tiny 1.10.0"
    assert "# tiny 1.10.0" in text


def test_licences_are_those_of_the_inputs() -> None:
    assert metadata(card(manifest()))["license"] == ["cc-by-sa-4.0"]
