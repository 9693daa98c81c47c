"""The one token counter."""

import gzip
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from builders.bundled import BUNDLED, cache_folder
from builders.errors import SetupError
from builders.hub import from_hub

# Made from the GGUF of the bundled model, so that counting needs neither the model nor torch.
_OURS = Path(__file__).parent / "tokenizers"


class TokenCounter:
    """Counts tokens of finished text with one named tokenizer; special tokens and templates are not added."""

    def __init__(self, name: str, content: bytes) -> None:
        from tokenizers import Tokenizer

        self.name = name
        self.sha256 = sha256(content).hexdigest()
        self._tokenizer = Tokenizer.from_buffer(content)
        self._tokenizer.no_truncation()  # a saved limit would cap every count
        self._tokenizer.no_padding()

    def count(self, text: str) -> int:
        """Tokens in one text."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens in each text, counted on all cores."""
        return [len(e) for e in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


@lru_cache(maxsize=4)
def token_counter(name: str) -> TokenCounter:
    """The counter of a bundled name, a folder, a tokenizer.json, a GGUF file, or a Hub id[@revision]."""
    path = _file_of(name)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    try:
        return TokenCounter(name, content)
    except Exception as error:  # the library raises bare Exception on a broken file
        raise SetupError(f"tokenizer {path} cannot be read: {error}") from None


def _file_of(name: str) -> Path:
    """The tokenizer.json of a name, as it is or compressed."""
    path = Path(name)
    if name in BUNDLED and (ours := _OURS / f"{name}.json.gz").is_file():
        return ours
    if path.suffix == ".gguf" and path.is_file():
        return _from_gguf(path)
    if path.is_dir():
        path = path / "tokenizer.json"
    return path if path.is_file() else _from_hub(name)


def _from_gguf(gguf: Path) -> Path:
    """The tokenizer.json made of a GGUF file, kept in the cache since reading a GGUF takes seconds."""
    kept = cache_folder() / "tokenizers" / f"{gguf.stem}-{_quick_digest(gguf)}.json"
    if not kept.is_file():
        from transformers import AutoTokenizer

        loaded: Any = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_name(f"{kept.name}.{id(loaded)}.partial")
        loaded.backend_tokenizer.save(str(partial), pretty=False)
        partial.replace(kept)
    return kept


def _quick_digest(path: Path) -> str:
    """A digest of a large file's size, beginning and end: enough to tell versions of one model apart."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(1 << 20)
        file.seek(max(0, size - (1 << 20)))
        return sha256(head + file.read() + str(size).encode()).hexdigest()[:16]


def _from_hub(name: str) -> Path:
    from huggingface_hub import hf_hub_download

    def get(repository: str, revision: str | None) -> str:
        return hf_hub_download(repository, "tokenizer.json", revision=revision)

    return from_hub("tokenizer", name, f"folder, file or bundled name ({', '.join(BUNDLED)})", get)
