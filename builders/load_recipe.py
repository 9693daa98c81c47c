"""Reads a recipe: a YAML file with overrides, as the model of its kind."""

import difflib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from builders.config import (
    AnyRecipe,
    QuestionSource,
    Recipe,
    RetrieverSpec,
    Source,
    Take,
    Task,
    known_source,
    public_sources,
)
from builders.errors import SetupError, shortened, shown
from builders.files import is_file
from builders.synthetic import kind_of
from builders.yaml_text import parsed_yaml

RECIPES = Path(__file__).parent / "recipes"


def recipe_of(values: dict[str, Any]) -> AnyRecipe:
    """The recipe of these values: of the kind that they name, by default one from a knowledge source."""
    return _model_of(values).model_validate(values)


def _model_of(values: dict[str, Any]) -> type[AnyRecipe]:
    if "kind" not in values:
        return Recipe
    if not isinstance(values["kind"], str):
        raise SetupError(f"kind: found {shown(values['kind'])}, wanted the name of a kind of dataset")
    return kind_of(values["kind"]).recipe


def load_recipe(recipe: str, settings: list[str], limit: int | None = None) -> tuple[AnyRecipe, Path]:
    """The recipe at a path or of a bundled name, with `a.b=c` overrides applied, and its folder."""
    path = find_recipe(recipe)
    values = _read_yaml(path)
    for setting in settings:
        _set(values, setting)
    if limit is not None:
        values["limit"] = limit
    try:
        found = recipe_of(values)
    except ValidationError as error:
        raise SetupError(f"{path.name}: {_first_problem(error, _model_of(values))}") from None
    return found.completed(found.base(path.parent)), path.parent


def find_recipe(recipe: str) -> Path:
    """The path of a recipe given as a path or as a bundled name."""
    path = Path(recipe)
    if is_file(path):
        return path
    bundled = sorted(p.stem for p in RECIPES.glob("*.yaml"))
    if recipe in bundled:
        return RECIPES / f"{recipe}.yaml"
    raise SetupError(f"no recipe at {recipe}; give a path to a YAML file, or one of: {', '.join(bundled)}")


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SetupError(f"{path} is not YAML: not UTF-8 ({error.reason})") from None
    values = parsed_yaml(text, str(path))
    if not isinstance(values, dict):
        raise SetupError(f"{path} contains {type(values).__name__}; a recipe is a mapping of settings")
    return values


def _set(values: dict[str, Any], setting: str) -> None:
    key, equals, value = setting.partition("=")
    if not equals or not key:
        raise SetupError(f"--set {setting}: write it as key=value, such as --set knowledge.path=pages.jsonl")
    *parents, last = key.split(".")
    for parent in parents:
        if isinstance(values.get(parent), str) and values[parent] in public_sources():
            values[parent] = dict(known_source(values[parent]))
        values = values.setdefault(parent, {})
        if not isinstance(values, dict):
            raise SetupError(f"--set {setting}: {parent} is not a group of settings")
    values[last] = parsed_yaml(value, f"--set {shortened(setting)}:")


def _first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    problem = error.errors()[0]
    where = ".".join(shortened(str(part)) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(problem["loc"][-1]), _all_keys(model), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"unknown key {where}{hint}"
    if problem["type"] == "value_error":  # from a validator here; its message gives what it found
        return f"{where}: {problem['ctx']['error']}" if where else str(problem["ctx"]["error"])
    return f"{where}: {problem['msg']}, not {shown(problem['input'])}" if where else problem["msg"]


def _all_keys(model: type[BaseModel]) -> list[str]:
    inner = (QuestionSource, Task, Take, RetrieverSpec) if model is Recipe else (Source,)
    return [key for part in (model, *inner) for key in part.model_fields]
