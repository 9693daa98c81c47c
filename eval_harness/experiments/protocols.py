"""The experiments of the protocols' papers: a run of each dataset, and the parts of its report that a table shows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.commands import Command, Place
from eval_harness.experiments.published import Row, published
from eval_harness.experiments.scale import Scale, Used, options
from eval_harness.protocols.frames.reported import document as of_frames
from eval_harness.protocols.needles.reported import document as of_needles
from eval_harness.protocols.oncu.reported import document as of_oncu
from eval_harness.report.parts import Document, Drawn, Line, Section
from eval_harness.report.table import percent


class _Protocol(NamedTuple):
    """The words of its command, whether a language model answers, the report of a run, and its paper's numbers."""

    command: Sequence[str]
    asks: bool
    document: Callable[[Path, None], tuple[Document, object, object]]
    paper: str | None


PROTOCOLS = {
    "oncu": _Protocol(["oncu"], True, of_oncu, None),  # the text at hand has no table of results
    "frames": _Protocol(["frames", "run"], True, of_frames, "frames"),
    "needles": _Protocol(["needles"], False, of_needles, "needles"),
}


def shown(name: str, protocol: str, title: str, *parts: str) -> Experiment:
    """The sections of a protocol's report whose names begin with one of `parts`, or all, for each dataset."""

    def report(found: Found) -> Parts:
        sections: list[Section] = []
        figures: list[Drawn] = []
        tables: dict[str, Sequence[Line]] = {}
        for at, used in enumerate(found.place.scale.protocols[protocol]):
            suffix = used.recipe or found.place.dataset.name
            document, _, _ = PROTOCOLS[protocol].document(_run(found.place, protocol, at), None)
            mine = [one for one in document.sections if not parts or one.name.startswith(parts)]
            names = {one.name for one in mine}
            sections += [_named(one, name, title, suffix) for one in mine]
            figures += [
                one._replace(name=f"{name}-{suffix}-{one.name}", below=f"{name}-{suffix}-{one.below}")
                for one in document.figures
                if one.below in names
            ]
            tables |= {f"{protocol}-{suffix}-{file}": lines for file, lines in document.tables.items()}
        return Parts([*sections, *_papers(name, protocol)], figures, tables)

    def own_data(scale: Scale) -> bool:
        return not all(used.recipe for used in scale.protocols[protocol])

    return Experiment(title, none, none, report, more=lambda place: [*_commands(place, protocol)], own_data=own_data)


def _commands(place: Place, protocol: str) -> Iterator[Command]:
    """The build of each dataset that is not the experiments' own, and its run."""
    of = PROTOCOLS[protocol]
    for at, used in enumerate(place.scale.protocols[protocol]):
        folder = place.out / "data" / used.recipe if used.recipe else place.dataset
        if used.recipe:
            settings = [part for setting in used.set for part in ("--set", setting)]
            yield Command(["build", used.recipe, *settings, "--out", str(folder)], folder / "manifest.json")
        configs = [part for config in used.configs for part in ("--config", config)]
        model = ["--model", place.scale.model] if of.asks else []
        run = ["--out", str(_run(place, protocol, at))]
        yield Command([*of.command, str(folder), *configs, *model, *options(used.options), *run])


def _run(place: Place, protocol: str, at: int) -> Path:
    used: Used = place.scale.protocols[protocol][at]
    return place.out / "runs" / f"{protocol}-{used.recipe or 'own'}"


def _named(section: Section, name: str, title: str, suffix: str) -> Section:
    return section._replace(name=f"{name}-{suffix}-{section.name}", title=f"{title}: {section.title} ({suffix})")


def _papers(name: str, protocol: str) -> Iterator[Section]:
    """The paper's numbers, which are of other models over another corpus."""
    if paper := PROTOCOLS[protocol].paper:
        numbers = published(paper)
        rows = [_printed(table, row) for table, of in numbers.tables.items() for row in of.rows]
        notes = [f"{numbers.paper}. Not comparable: other models, and another corpus than any that is built here."]
        yield Section(f"{name}-published", f"{name}: the paper's", notes, ["table", "row", "model", "values"], rows, 4)


def _printed(table: str, row: Row) -> list[str]:
    values: Mapping[str, float] = {**row.frames, **row.needles}
    return [table, row.row, row.model or "", ", ".join(f"{name} {percent(value)}" for name, value in values.items())]


ONCU_MAIN = shown("oncu_main", "oncu", "Four conditions", "oncu", "scores", "modes", "contract", "left-out")
ONCU_VALIDITY = shown("oncu_validity", "oncu", "Valid denominators", "validity")
ONCU_POSITION = shown("oncu_position", "oncu", "Length and position", "positions")
NEEDLES_ALL = shown("needles_all", "needles", "Needles")
FRAMES_MAIN = shown("frames_main", "frames", "FRAMES", "frames", "gap", "shown", "judges", "coverage")
FRAMES_TYPES = shown("frames_types", "frames", "FRAMES by type", "types", "articles")
FRAMES_ROUNDS = shown("frames_rounds", "frames", "FRAMES by round", "rounds")
