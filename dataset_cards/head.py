"""The YAML head of a dataset's card: what the Hub files it under, and what `load_dataset` reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from builders.card import licences_of
from builders.format1 import prompt_kind
from dataset_cards.facts import tasks_of
from dataset_cards.licences import hub_licence

if TYPE_CHECKING:
    import pyarrow as pa

# By the kind of a task's prompt; the identifiers are those of the Hub's own list of tasks.
_TASKS = {
    "qa": ("question-answering", "open-domain-qa"),
    "fact": ("text-classification", "fact-checking"),
    "dialogue": ("text-generation", "dialogue-generation"),
}
_SIZE_STEPS = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")

Record = dict[str, Any]


def head(manifest: Mapping[str, Any], statistics: Mapping[str, Any], schema: "pa.Schema") -> str:
    """The YAML between the two lines of dashes, with a line break at its end.

    No config is marked as the default: length and ratio are what is measured, so a reader is to name them.
    """
    kinds = sorted({prompt_kind(task) for task in tasks_of(manifest, statistics)})
    fields: Record = {
        "pretty_name": f"{manifest['name']} {manifest['version']}",
        "version": manifest["version"],
        "language": [manifest["language"]],
        **hub_licence(licences_of(manifest)),
        "task_categories": [_TASKS[kind][0] for kind in kinds],
        "task_ids": [_TASKS[kind][1] for kind in kinds],
        "size_categories": [size_category(statistics["dataset"]["rows"])],
        "tags": ["long-context", "retrieval", "in-context-retrieval", "reasoning", "icr2", *_made(manifest)],
        "configs": [_config(config, splits) for config, splits in manifest["configs"].items()],
        "dataset_info": _info(manifest["configs"], statistics["configs"], schema),
    }
    return yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=1000)


def _made(manifest: Mapping[str, Any]) -> list[str]:
    """Tags of a dataset that no source was read for."""
    return [] if manifest["inputs"] else ["synthetic"]


def size_category(rows: int) -> str:
    """The Hub's class for a number of rows: `n<1K`, `1K<n<10K`, and so on; a class has its lower end."""
    step = sum(rows >= 10 ** (power + 3) for power in range(len(_SIZE_STEPS)))
    if step == 0:
        return "n<1K"
    return f"{_SIZE_STEPS[step - 1]}<n<{_SIZE_STEPS[step]}" if step < len(_SIZE_STEPS) else "n>1T"


def _config(config: str, splits: Mapping[str, Sequence[Record]]) -> Record:
    files = [{"split": split, "path": [file["path"] for file in files]} for split, files in splits.items()]
    return {"config_name": config, "data_files": files}


def _info(configs: Mapping[str, Any], statistics: Mapping[str, Any], schema: "pa.Schema") -> list[Record]:
    """Features and sizes of each config, as `datasets` writes them into a card."""
    from datasets import DatasetInfo, Features, SplitDict, SplitInfo
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    features = Features.from_arrow_schema(schema)
    infos = DatasetInfosDict()
    for config, splits in configs.items():
        measured = statistics[config]
        sizes = SplitDict()
        for split, files in splits.items():
            rows = sum(file["rows"] for file in files)
            sizes.add(SplitInfo(name=split, num_bytes=measured[split]["bytes_in_memory"], num_examples=rows))
        infos[config] = DatasetInfo(
            features=features,
            splits=sizes,
            download_size=sum(measured[split]["bytes"] for split in splits),
            dataset_size=sum(measured[split]["bytes_in_memory"] for split in splits),
        )
    data = DatasetCardData()
    infos.to_dataset_card_data(data)
    described = data["dataset_info"]  # one config comes as itself, several as a list
    return described if isinstance(described, list) else [described]


def schema_of(folder: Path, manifest: Mapping[str, Any]) -> "pa.Schema":
    """The Arrow schema of a dataset's first file, which all its files share."""
    import pyarrow.parquet as pq

    first = next(files for splits in manifest["configs"].values() for files in splits.values())[0]
    return pq.read_schema(folder / first["path"])
