"""The file of heads, heads.json."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from builders.errors import SetupError, shown
from builders.files import write_json
from builders.typed import read_json, typed
from eval_harness.probing.heads import Cell, Heads, Rates, heads_by_task

FORMAT = "icr2-heads/2"
POOLED = "icr2-heads/1"  # over all tasks; still read


def write_heads(heads: Heads, path: Path) -> None:
    """Writes heads.json, and the folder that it lies in."""
    tasks = {
        task: {"n": n, "hit_rates": {str(m): rates for m, rates in by_m.items()}}
        for task, (n, by_m) in heads.tasks.items()
    }
    content: dict[str, Any] = {"layers": heads.layers, "tasks": tasks, "made_from": heads.made_from}
    if heads.sweep:
        content["sweep"] = [cell._asdict() for cell in heads.sweep]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"format": FORMAT, **content})


class _MadeFrom(BaseModel):
    """What heads depend on, as far as it is read."""

    model_config = ConfigDict(extra="allow", strict=True)

    model: dict[str, Any]
    position: Literal["last", "question", "retrieval"]
    pooling: Literal["sum", "max", "mean"]
    calibrated: bool
    tokens: Literal["union", "mean"] = "mean"


class _Rates(BaseModel):
    """The rates of one task or, in format 1, of all."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    hit_rates: Annotated[
        dict[Annotated[str, Field(pattern="^[1-9][0-9]{0,6}$")], list[list[Annotated[float, Field(ge=0, le=1)]]]],
        Field(min_length=1),
    ]
    n: Annotated[int, Field(gt=0)]

    def rates(self) -> Rates:
        """Its numbers."""
        return Rates(self.n, {int(m): by_layer for m, by_layer in self.hit_rates.items()})


class _Common(BaseModel):
    """The part of heads.json that both formats have."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    layers: list[Annotated[int, Field(ge=0)]]
    made_from: _MadeFrom
    sweep: list[Cell] = []


class _Pooled(_Common, _Rates):
    """heads.json of format 1."""

    format: Literal["icr2-heads/1"]


class _File(_Common):
    """heads.json."""

    format: Literal["icr2-heads/2"]
    tasks: Annotated[dict[str, _Rates], Field(min_length=1)]


def read_heads(path: Path) -> Heads:
    """The heads in a file; SetupError names the field that is wrong."""
    then = f"create it with: icr2 probe DIR --out {path}"
    place = f"{path} holds no heads of the format {FORMAT}"
    content = read_json(path, then, place)
    pooled = isinstance(content, dict) and content.get("format") == POOLED
    found: _Pooled | _File
    found = typed(content, _Pooled, place, then) if pooled else typed(content, _File, place, then)
    tasks = (
        {"": found.rates()} if isinstance(found, _Pooled) else {name: of.rates() for name, of in found.tasks.items()}
    )
    by_m = [by_layer for of in tasks.values() for by_layer in of.hit_rates.values()]
    sizes = {len(heads) for by_layer in by_m for heads in by_layer}
    if len(set(found.layers)) < len(found.layers) or any(len(one) != len(found.layers) for one in by_m):
        raise SetupError(f"{place}: layers: found {shown(found.layers)}, wanted one for each list of hit_rates; {then}")
    if len(sizes) != 1 or 0 in sizes:
        raise SetupError(f"{place}: hit_rates: found lists of different lengths, wanted a rate for each head; {then}")
    if len({frozenset(of.hit_rates) for of in tasks.values()}) > 1:
        raise SetupError(f"{place}: tasks: found other values of M for some, wanted the same for all; {then}")
    heads = heads_by_task(found.layers, tasks, dict(content["made_from"]), found.sweep)
    return heads._replace(tasks={}) if pooled else heads
