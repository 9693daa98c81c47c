"""The README.md of a newly built dataset: what `load_dataset` needs, and a short description."""

from hashlib import sha256
from typing import Any

import yaml

from builders.manifest import Config, Manifest

OUR_LICENCE = "apache-2.0"


def card(manifest: Manifest) -> str:
    """The card's text: YAML `configs` with every file by its path, then how to load it."""
    first = next(iter(manifest.configs))
    head = yaml.safe_dump(_metadata(manifest), sort_keys=False, allow_unicode=True)
    return f"""---
{head}---

# {manifest.name} {manifest.version}

{_about(manifest)} Each row is a query with its
answers and its context; `passages` gives the role of every passage: gold, confounder or random.

```python
from datasets import load_dataset

dataset = load_dataset("FOLDER_OR_REPO", "{first}")
```

`manifest.json` lists every input, setting and file with its digest, and counts excluded records by reason.
"""


def _about(manifest: Manifest) -> str:
    if kind := manifest.recipe.get("kind"):
        from builders.synthetic import kind_of  # its kinds import more than a card needs

        return kind_of(kind).says
    return (
        "Contexts of gold, confounding and random Wikipedia passages for in-context retrieval and reasoning, built "
        "after\n[ICR²](https://arxiv.org/abs/2501.08248) and [LOFT](https://arxiv.org/abs/2406.13121)."
    )


def licences_of(manifest: Manifest) -> list[str | None]:
    """The licence of each input; ours where there is no input, since all texts then come from our templates."""
    if not manifest.inputs:
        return [OUR_LICENCE]
    return [given.licence for given in manifest.inputs.values()]


def config_entry(name: str, config: Config) -> dict[str, Any]:
    """A config as a card lists it: its name, its files by split, and their digest.

    The digest is there for `load_dataset`: the key of its cache has a file's path and time, and all of this entry, so
    without it the rows of an earlier build at the same path and time would be returned.
    """
    files = [{"split": split, "path": [file.path for file in files]} for split, files in config.files.items()]
    digests = "".join(file.sha256 for files in config.files.values() for file in files)
    digest = sha256(digests.encode()).hexdigest()[:16]
    return {"config_name": name, "description": f"files {digest}", "data_files": files}


def _metadata(manifest: Manifest) -> dict[str, Any]:
    licences = sorted({licence for licence in licences_of(manifest) if licence})
    return {
        "pretty_name": f"{manifest.name} {manifest.version}",
        "language": [manifest.language],
        "license": licences or ["unknown"],
        "task_categories": ["question-answering"],
        "configs": [config_entry(name, config) for name, config in manifest.configs.items()],
    }
