"""The demo's task files, kept in the cache. They are derived from its recipe, so the demo need not be built."""

from hashlib import sha256
from pathlib import Path

from builders.bundled import cache_folder
from builders.errors import SetupError
from builders.files import replacing
from builders.load_recipe import load_recipe
from eval_harness.lm_eval.hooks import VERSION
from eval_harness.lm_eval.write import Source, task_files

NAME = "icr2"  # with which the names of the demo's tasks begin, shorter than the dataset's
DATASET = "icr2"  # the demo's folder, next to the task files or in lm-eval's working directory


def demo_tasks() -> Path:
    """The folder with the demo's task files, rewritten as a whole if it is missing or out of date."""
    recipe, _ = load_recipe("demo", [])
    files = task_files(Source(NAME, DATASET, None, recipe.configs, recipe.tasks_of({}), recipe.language))
    content = sha256("".join(f"{name}\0{text}\0" for name, text in sorted(files.items())).encode()).hexdigest()
    folder = cache_folder() / "lm_eval" / f"demo-{VERSION}-{content[:16]}"
    if _read(folder) != files:
        try:
            _write(files, folder)
        except OSError as error:
            if _read(folder) != files:  # otherwise another process wrote them first
                raise SetupError(
                    f"cannot write to {folder.parent}: {error.strerror}; set ICR2_CACHE to another folder"
                ) from None
    return folder


def _read(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.yaml")}


def _write(files: dict[str, str], folder: Path) -> None:
    with replacing(folder) as partial:
        partial.mkdir(parents=True)
        for name, text in files.items():
            (partial / name).write_text(text, encoding="utf-8")
