"""Counts tokens, with the text of every control token read as plain text: the one count of builder and runner."""

import gzip
import json
import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.bundled import BUNDLED, cache_folder
from builders.errors import SetupError
from builders.hub import from_hub

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Made from the GGUF of the bundled model, so that counting needs neither the model nor torch.
_OURS = Path(__file__).parent / "tokenizers"


_SPACE = "\u2581"  # as SentencePiece writes it
_SECRET = secrets.token_hex(16)  # of this process, so that no text can hold the names that tokens are given


class TokenCounter:
    """Counts tokens of finished text with one named tokenizer; special tokens and templates are not added.

    A special or added token whose text occurs in a text is counted as the plain tokens that a model reads there.
    """

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.sha256 = sha256(content).hexdigest()
        self._tokenizer, _ = plain_tokenizer(content.decode())

    def count(self, text: str) -> int:
        """Tokens in one text."""
        return len(self._tokenizer.encode_batch_fast([text], add_special_tokens=False)[0])  # without offsets

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens in each text, counted on all cores."""
        return [len(e) for e in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


@lru_cache(maxsize=4)
def token_counter(name: str) -> TokenCounter:
    """The counter of a bundled name, a folder, a tokenizer.json, a GGUF file, or a Hub id[@revision]."""
    content = tokenizer_json(name)
    try:
        return TokenCounter(name, content)
    except Exception as error:  # the library raises bare Exception on a broken file
        raise SetupError(f"tokenizer {_file_of(name)} cannot be read: {error}") from None


def tokenizer_json(name: str) -> bytes:
    """The tokenizer.json of a bundled name, a folder, a file, or a Hub id[@revision]."""
    path = _file_of(name)
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def plain_tokenizer(content: str) -> tuple["Tokenizer", dict[str, str]]:
    """A tokenizer.json as a tokenizer that reads no control token in a text, and the new name of each added token.

    An added token is found in a text by its new name alone, which no text holds; ids, and all else that a tokenizer
    does around an added token, stay the same. Added tokens of white space alone are text, and keep their names.
    """
    from tokenizers import Tokenizer

    fields = json.loads(content)
    added = [token for token in fields.get("added_tokens") or () if token["content"].replace(_SPACE, "").strip()]
    names = {token["content"]: f"<|{_SECRET}:{token['id']:08d}|>" for token in added}
    for token in added:
        token["content"] = names[token["content"]]
    _rename(fields["model"], names)
    tokenizer = Tokenizer.from_str(json.dumps(fields))
    tokenizer.no_truncation()  # a saved limit would cap every count
    tokenizer.no_padding()
    return tokenizer, names


def _rename(model: dict[str, Any], names: Mapping[str, str]) -> None:
    """Renames tokens in a model's vocabulary, where some models would find them in plain text, too."""
    vocabulary = model.get("vocab", {})
    if isinstance(vocabulary, dict):
        model["vocab"] = {names.get(token, token): id for token, id in vocabulary.items()}
    else:
        model["vocab"] = [[names.get(token, token), score] for token, score in vocabulary]
    if model.get("unk_token") in names:
        model["unk_token"] = names[model["unk_token"]]
    if "merges" in model:
        merges = (merge.split(" ", 1) if isinstance(merge, str) else merge for merge in model["merges"])
        model["merges"] = [pair for pair in merges if not {*pair, "".join(pair)} & names.keys()]


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
