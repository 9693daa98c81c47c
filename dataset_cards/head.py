"""The YAML head of a dataset's card: metadata of the Hub, and what `load_dataset` reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from builders.card import config_entry, licences_of
from builders.manifest import Manifest
from builders.tasks import KindName
from dataset_cards.licences import hub_licence

if TYPE_CHECKING:
    import pyarrow as pa

# The identifiers are those of the Hub's own list of tasks.
_TASKS: dict[KindName, tuple[str, str]] = {
    "qa": ("question-answering", "open-domain-qa"),
    "set": ("question-answering", "open-domain-qa"),
    "needle": ("question-answering", "open-domain-qa"),
    "fact": ("text-classification", "fact-checking"),
    "dialogue": ("text-generation", "dialogue-generation"),
}
_SIZE_STEPS = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")

Record = dict[str, Any]


def head(manifest: Manifest, statistics: Mapping[str, Any], schema: "pa.Schema") -> str:
    """The YAML between the two lines of dashes, with a line break at its end.

    No config is the default: length and ratio are what is measured, so users must name a config.
    """
    kinds = sorted({task.kind for task in manifest.tasks.values()})
    filed = list(dict.fromkeys(_TASKS[kind] for kind in kinds))
    fields: Record = {
        "pretty_name": f"{manifest.name} {manifest.version}",
        "version": manifest.version,
        "language": [manifest.language],
        **hub_licence(licences_of(manifest)),
        "task_categories": [category for category, _ in filed],
        "task_ids": [task for _, task in filed],
        "size_categories": [size_category(statistics["dataset"]["rows"])],
        "tags": ["long-context", "retrieval", "in-context-retrieval", "reasoning", "icr2", *_generated(manifest)],
        "configs": [config_entry(name, config) for name, config in manifest.configs.items()],
        "dataset_info": info_of(manifest, statistics["configs"], schema),
    }
    return yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=1000)


def _generated(manifest: Manifest) -> list[str]:
    """Tags of a dataset without sources."""
    return [] if manifest.inputs else ["synthetic"]


def size_category(rows: int) -> str:
    """The Hub's class for a number of rows: `n<1K`, `1K<n<10K`, and so on; a class includes its lower bound."""
    step = sum(rows >= 10 ** (power + 3) for power in range(len(_SIZE_STEPS)))
    if step == 0:
        return "n<1K"
    return f"{_SIZE_STEPS[step - 1]}<n<{_SIZE_STEPS[step]}" if step < len(_SIZE_STEPS) else "n>1T"


def info_of(manifest: Manifest, statistics: Mapping[str, Any], schema: "pa.Schema") -> list[Record]:
    """Features and sizes of each config, as `datasets` writes them into a card."""
    from datasets import DatasetInfo, Features, SplitDict, SplitInfo
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    features = Features.from_arrow_schema(schema)
    infos = DatasetInfosDict()
    for config, about in manifest.configs.items():
        measured = statistics[config]
        sizes = SplitDict()
        for split, files in about.files.items():
            rows = sum(file.rows for file in files)
            sizes.add(SplitInfo(name=split, num_bytes=measured[split]["bytes_in_memory"], num_examples=rows))
        infos[config] = DatasetInfo(
            features=features,
            splits=sizes,
            download_size=sum(measured[split]["bytes"] for split in about.files),
            dataset_size=sum(measured[split]["bytes_in_memory"] for split in about.files),
        )
    data = DatasetCardData()
    infos.to_dataset_card_data(data)
    described = data["dataset_info"]  # a mapping for one config, a list for several
    return described if isinstance(described, list) else [described]


def schema_of(folder: Path, manifest: Manifest) -> "pa.Schema":
    """The Arrow schema of a dataset's first file, shared by all its files."""
    import pyarrow.parquet as pq

    first = next(files for config in manifest.configs.values() for files in config.files.values())[0]
    return pq.read_schema(manifest.path_of(folder, first))
