"""Models of this machine: a bundled name, a folder, a GGUF file, or a Hub id[@revision]."""

from collections.abc import Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import NamedTuple

from builders.bundled import BUNDLED, bundled_file
from builders.errors import SetupError
from builders.hub import from_hub
from eval_harness.models.back_end import ModelOptions
from eval_harness.models.base import Model
from eval_harness.models.gguf import dequantised, gguf_digest

BUNDLED_MODELS = [name for name, item in BUNDLED.items() if item.file.endswith(".gguf")]
_PARTS = (".json", ".safetensors", ".jinja", ".model", ".txt")  # a checkpoint without pickled weights


class Checkpoint(NamedTuple):
    """A model folder with its name and what pins it: a commit of the Hub, or `sha256:` and a digest of its files."""

    folder: Path
    name: str
    revision: str


class Local:
    """Models whose weights are on this machine or come from the Hub, run by transformers."""

    says = "a bundled name, a folder, a GGUF file, or a Hub id (id@revision)"
    remote = False
    takes = frozenset("system template_field thinking_marks max_positions dtype attention prefix_reuse".split())

    def load(self, name: str, options: ModelOptions) -> Model:
        """The model of a checkpoint; SetupError if it cannot be loaded."""
        checkpoint = find_checkpoint(name)
        from eval_harness.models.hf import HfModel

        return HfModel(
            *checkpoint,
            options.dtype,
            options.attention,
            options.system,
            fields=options.template_fields,
            marks=options.marks,
            max_positions=options.max_positions,
        )


def find_checkpoint(spec: str, *, weights: bool = True) -> Checkpoint:
    """The folder of a model, fetched or converted when need be; of a Hub id only without its weights if told so."""
    path = Path(spec)
    if spec in BUNDLED_MODELS:
        return _from_gguf(bundled_file(spec), spec)
    if path.suffix == ".gguf" and path.is_file():
        return _from_gguf(path.resolve(), path.stem)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise SetupError(f"{path} has no config.json, so it is not a model folder")
        return Checkpoint(path, path.resolve().name, f"sha256:{_folder_digest(path)}")
    return _from_hub(spec, [part for part in _PARTS if weights or part != ".safetensors"])


def _from_gguf(gguf: Path, name: str) -> Checkpoint:
    digest = gguf_digest(gguf)
    return Checkpoint(dequantised(gguf, name, digest), name, f"sha256:{digest}")


def _folder_digest(folder: Path) -> str:
    total = sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in _PARTS):
        with path.open("rb") as file:
            total.update(f"{path.name}\x1f{file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def _from_hub(spec: str, parts: Sequence[str]) -> Checkpoint:
    from huggingface_hub import snapshot_download

    def get(repository: str, revision: str | None) -> str:
        return snapshot_download(repository, revision=revision, allow_patterns=[f"*{part}" for part in parts])

    try:
        folder = from_hub("model", spec, f"folder, GGUF file or bundled name ({', '.join(BUNDLED_MODELS)})", get)
    except SetupError as error:
        if "/" in spec:
            raise
        raise SetupError(f"{error}; for a model behind a server, did you mean openai:{spec}?") from None
    return Checkpoint(folder, spec.partition("@")[0], folder.name)
