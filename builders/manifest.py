"""Reads the manifest of a dataset folder."""

import json
from pathlib import Path
from typing import Any

from builders.errors import SetupError

FORMAT = "icr2-manifest/1"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a dataset folder; SetupError where there is none."""
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SetupError(
            f"{folder} is no dataset: it has no manifest.json; run: icr2 build RECIPE --out {folder}"
        ) from None
    except ValueError as error:
        raise SetupError(f"{path} is not JSON ({error}); build the dataset again") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise SetupError(f"{path} is not of the format {FORMAT}; build the dataset again")
    return manifest
