"""Text encoders: sentence-transformers models, Contriever, and DPR's pair, behind one small interface."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from hashlib import file_digest, sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from builders.bundled import BUNDLED, bundled_file
from builders.config import digest_of
from builders.device import DType, device_name, dtype_name
from builders.errors import SetupError, shortened
from builders.files import is_folder
from builders.hub import from_hub
from builders.text import composed

DPR_TOKENS = 256  # the length that DPR was trained with (Karpukhin et al., 2020)
_CPU_BATCH, _GPU_BATCH = 16, 256  # texts in a forward pass; larger ones are slower on a CPU
_LOADING = Lock()  # transformers changes torch's functions while it loads a model
_NOT_NEEDED = ["*.onnx", "onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.md"]


class Text(NamedTuple):
    """What is encoded: a passage with its title, or a query with an empty one."""

    title: str
    body: str

    def joined(self) -> str:
        """Title, space, body, for encoders that take one text."""
        return f"{self.title} {self.body}" if self.title else self.body


class Encoder(ABC):
    """A model in a folder; loaded at the first text, so that its digest can be asked for without its weights.

    A kind of encoder has `_vectors`, which gives vectors (texts, dimensions), equal for equal lists of texts.
    `threads` are those of torch in one forward pass: more than one may round differently.
    """

    max_tokens: int | None = None  # where a text is cut, if the model's files do not say it
    name = ""  # what a recipe calls the model

    def __init__(self, folder: Path, dtype: str, side: str, threads: int) -> None:
        self.folder, self.dtype, self.side, self.threads = folder, dtype, side, threads
        self.device = device_name()

    def encode(self, texts: Sequence[Text]) -> np.ndarray:
        """Vectors of texts in NFC, float32 of shape (texts, dimensions); the same list gives the same vectors."""
        import torch

        torch.set_num_threads(self.threads)
        return self._vectors([Text(composed(text.title), composed(text.body)) for text in texts])

    @abstractmethod
    def _vectors(self, texts: Sequence[Text]) -> np.ndarray:
        """Vectors of shape (texts, dimensions)."""

    def twin(self) -> "Encoder":
        """Another encoder of the same model, which loads the model itself: one for each Python thread."""
        other = copy(self)
        for loaded in ("_model", "_tokenizer"):
            vars(other).pop(loaded, None)
        return other

    @cached_property
    def digest(self) -> str:
        """What the vectors depend on: the model's files (its longest text among them), dtype, side."""
        return digest_of([files_digest(self.folder), self.dtype, self.max_tokens, self.side])

    def encode_distinct(self, texts: Iterable[str]) -> dict[str, np.ndarray]:
        """The vector of each distinct query text, whatever the order in which the texts come."""
        distinct = sorted(set(texts), key=lambda text: (len(text), text))
        if not distinct:
            return {}
        vectors = self.encode([Text("", text) for text in distinct])
        checked_vectors(vectors, [f"query {text!r}" for text in distinct], self.name)
        return dict(zip(distinct, vectors, strict=True))

    def _dtype(self) -> Any:
        """The dtype as torch has it; models then load without a progress bar."""
        import torch
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        return getattr(torch, self.dtype)

    @property
    def _batch_size(self) -> int:
        return _CPU_BATCH if self.device == "cpu" else _GPU_BATCH


def checked_vectors(vectors: np.ndarray, names: Sequence[str], model: str) -> np.ndarray:
    """The vectors; SetupError names the encoder and the first text whose vector is missing or not finite."""
    if len(vectors) != len(names):
        raise SetupError(f"encoder {model} gave {len(vectors)} vectors for {len(names)} texts; use another model")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise SetupError(
            f"encoder {model} gave a vector with NaN or infinity for {shortened(names[bad[0]])} "
            f"({len(bad)} of {len(names)} texts); use dtype float32 or another model"
        )
    return vectors


class SentenceEncoder(Encoder):
    """Any sentence-transformers model; a bare transformer such as Contriever gets the mean over its real tokens.

    Vectors have length 1 where the model compares by cosine; a bare transformer compares by inner product.
    """

    def _vectors(self, texts: Sequence[Text]) -> np.ndarray:
        encode = self._model.encode_query if self.side == "query" else self._model.encode_document
        vectors = encode([t.joined() for t in texts], batch_size=self._batch_size, show_progress_bar=False)
        vectors = np.asarray(vectors, dtype=np.float32)
        return _unit(vectors) if self._cosine else vectors

    @property
    def _cosine(self) -> bool:
        return (self.folder / "modules.json").is_file() and self._model.similarity_fn_name == "cosine"

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer

        with _LOADING:
            return SentenceTransformer(
                str(self.folder), device=self.device, local_files_only=True, model_kwargs={"dtype": self._dtype()}
            )


class DprEncoder(Encoder):
    """One half of DPR (Karpukhin et al., 2020): the vector of the first token; passages go in as title and text."""

    max_tokens = DPR_TOKENS

    def _vectors(self, texts: Sequence[Text]) -> np.ndarray:
        import torch

        # similar lengths share a batch, to pad little
        order = sorted(range(len(texts)), key=lambda i: (-len(texts[i].joined()), i))
        vectors: np.ndarray | None = None
        with torch.inference_mode():
            for start in range(0, len(order), self._batch_size):
                at = order[start : start + self._batch_size]
                pooled = self._model(**self._tokens([texts[i] for i in at])).pooler_output.float().cpu().numpy()
                if vectors is None:
                    vectors = np.empty((len(texts), pooled.shape[1]), dtype=np.float32)
                vectors[at] = pooled
        return vectors if vectors is not None else np.empty((0, 0), dtype=np.float32)

    def _tokens(self, texts: Sequence[Text]) -> Any:
        bodies = [text.body for text in texts]
        pair = ([text.title for text in texts], bodies) if self.side == "passage" else (bodies,)
        tokens = self._tokenizer(*pair, truncation=True, max_length=self.max_tokens, padding=True, return_tensors="pt")
        return tokens.to(self.device)

    @cached_property
    def _model(self) -> Any:
        from transformers import DPRContextEncoder, DPRQuestionEncoder

        kind: Any = DPRQuestionEncoder if self.side == "query" else DPRContextEncoder
        with _LOADING:
            model = kind.from_pretrained(str(self.folder), dtype=self._dtype(), local_files_only=True)
        return model.to(self.device).eval()

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        with _LOADING:
            return AutoTokenizer.from_pretrained(str(self.folder), local_files_only=True)


def encoder(model: str, side: str, dtype: DType, threads: int) -> Encoder:
    """The encoder of a model given as `bundled:NAME`, a folder, or a Hub id[@revision]; side is query or passage."""
    folder = model_folder(model)
    config = folder / "config.json"
    if not config.is_file():
        raise SetupError(f"model {model} has no config.json in {folder}; give the folder of a Hugging Face model")
    kind = DprEncoder if re.search(r'"model_type"\s*:\s*"dpr"', config.read_text(encoding="utf-8")) else SentenceEncoder
    made = kind(folder, dtype_name(dtype), side, threads)
    made.name = model
    return made


def model_folder(model: str) -> Path:
    """Where a model's files lie; SetupError where they are neither here nor on the Hub."""
    if model.startswith("bundled:"):
        return bundled_file(model.removeprefix("bundled:")).parent
    if is_folder(Path(model)):
        return Path(model)
    from huggingface_hub import snapshot_download

    def get(repository: str, revision: str | None) -> str:
        return snapshot_download(repository, revision=revision, ignore_patterns=_NOT_NEEDED)

    return from_hub("model", model, f"folder or bundled name (bundled:{', bundled:'.join(BUNDLED)})", get)


def files_digest(folder: Path) -> str:
    """One digest over the names and contents of a model's files."""
    digest = sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if not name.startswith(".") and path.suffix != ".md":
            digest.update(f"{name}\x1f{_file_digest(path)}\x1f".encode())
    return digest.hexdigest()


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
