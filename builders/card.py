"""The README.md of a freshly built dataset: enough for `load_dataset` and for a reader to know what it is."""

from typing import Any

import yaml


def card(manifest: dict[str, Any]) -> str:
    """The card's text: YAML `configs` with every file by its path, then how to load it."""
    first = next(iter(manifest["configs"]))
    head = yaml.safe_dump(_metadata(manifest), sort_keys=False, allow_unicode=True)
    return f"""---
{head}---

# {manifest["name"]} {manifest["version"]}

Contexts of gold, confounding and random Wikipedia passages for in-context retrieval and reasoning, built after
[ICR²](https://arxiv.org/abs/2501.08248) and [LOFT](https://arxiv.org/abs/2406.13121). Each row is a query with its
answers and its context; `passages` says of every passage whether it is gold, a confounder or random.

```python
from datasets import load_dataset

dataset = load_dataset("FOLDER_OR_REPO", "{first}")
```

`manifest.json` names every input, setting and file with its digest, and counts what was left out by reason.
"""


def _metadata(manifest: dict[str, Any]) -> dict[str, Any]:
    licences = {place["licence"] for place in manifest["inputs"].values() if place.get("licence")}
    configs = [
        {
            "config_name": config,
            "data_files": [
                {"split": split, "path": [file["path"] for file in files]} for split, files in splits.items()
            ],
        }
        for config, splits in manifest["configs"].items()
    ]
    return {
        "pretty_name": f"{manifest['name']} {manifest['version']}",
        "language": [manifest["language"]],
        "license": sorted(licences) if licences else ["unknown"],
        "task_categories": ["question-answering"],
        "configs": configs,
    }
