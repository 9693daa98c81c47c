"""GGUF files turned into plain checkpoints, once: loading a GGUF takes seconds, and its weights stay packed."""

import shutil
import tempfile
from hashlib import file_digest
from pathlib import Path

from builders.bundled import cache_folder
from builders.errors import SetupError


def gguf_digest(gguf: Path) -> str:
    """The SHA-256 of the file."""
    with gguf.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def dequantised(gguf: Path, name: str, digest: str) -> Path:
    """The folder of the GGUF's float32 weights (safetensors), tokenizer and config, made in the cache when missing."""
    folder = cache_folder() / "models" / f"{name}-{digest[:16]}"
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise SetupError(
            f"cannot write to {folder.parent}: {error.strerror}; set ICR2_CACHE to another folder"
        ) from None
    try:
        _convert(gguf, partial)
        if not folder.is_dir():  # another process may have been first
            partial.chmod(0o755)  # a temporary folder is closed to everybody else
            partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()

    try:
        model = AutoModelForCausalLM.from_pretrained(
            str(gguf.parent),
            gguf_file=gguf.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.float32,  # holds every dequantised value exactly
        )
        tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0]
        raise SetupError(f"{gguf} cannot be read as a language model: {reason}") from None
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
