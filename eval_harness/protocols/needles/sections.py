"""The tables of the needles report, and its lines of numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval_harness.protocols.needles.analysis import Analysis, Key
from eval_harness.protocols.needles.haystacks import NEEDLES, Needle
from eval_harness.protocols.needles.measures import Cell
from eval_harness.report.parts import Line, Section
from eval_harness.report.sections import number
from eval_harness.report.statistics import Interval

MAIN = "needles"
_TITLES = {"one_hop": "one-hop", "literal": "literal"}
_MAIN = ("similarity", "normalised", "control", "ratio", "difference", "effect_size", "auc")
_HEADS = {"effect_size": "effect size", "auc": "AUC"}


def sections(found: Analysis, record: Mapping[str, Any]) -> list[Section]:
    """Every non-empty table, in reading order."""
    encoder = record["encoder"]
    made = [
        _main(found),
        _reach(found, encoder),
        *(_parts(found, "order", needle) for needle in NEEDLES),
        *(_parts(found, "category", needle) for needle in NEEDLES),
        *(_depths(found, needle) for needle in NEEDLES),
        _position(found),
        _expansion(found, record),
        _run(record),
    ]
    return [section for section in made if section.rows]


def lines(found: Analysis) -> list[Line]:
    """One line per measure of each cell."""
    return [
        {
            "terms": key.terms,
            "length": found.configs[key.config].tokens,
            **{name: "" if value is None else value for name, value in key._asdict().items() if name != "terms"},
            "measure": measure,
            "value": interval.mean if interval else None,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "questions": cell.questions,
            "haystacks": cell.haystacks,
            "invalid": cell.invalid,
        }
        for key, cell in found.cells.items()
        for measure, interval in cell.measures.items()
    ]


def reach_lines(found: Analysis) -> list[Line]:
    """One line per length: how much of its texts is read."""
    return [
        {
            "length": found.configs[config].tokens,
            "config": config,
            "tokens": reach.tokens,
            "cut": reach.cut,
            **{part: reach.share(part) for part in ("needle_cut", "needle_past")},
        }
        for config, reach in found.reach.items()
    ]


def label(found: Analysis, config: str) -> str:
    """The label of a config's length."""
    return found.configs[config].length or config


def labels(found: Analysis) -> list[str]:
    """The labels of all configs' lengths."""
    return [label(found, config) for config in found.configs]


def _estimate(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return f"{number(interval.mean)}\n[{number(interval.low)}, {number(interval.high)}]"


def _share(value: float) -> str:
    return f"{100 * value:.1f}"


def _cells(found: Analysis) -> Iterator[tuple[str, Needle, Cell]]:
    """The cells of whole lengths without expansion."""
    for config in found.configs:
        for needle in NEEDLES:
            if cell := found.cells.get(Key(0, config, needle)):
                yield config, needle, cell


def _main(found: Analysis) -> Section:
    rows = [
        [
            label(found, config),
            _TITLES[needle],
            str(cell.questions),
            str(cell.haystacks),
            *(_estimate(cell.measures[name]) for name in _MAIN),
            _unread(found, config),
        ]
        for config, needle, cell in _cells(found)
    ]
    notes = [
        "Similarity: the mean cosine of question and haystack. Normalised: divided by the cosine of question and "
        "needle alone; control: the same for haystacks without a needle. Ratio: how often a haystack is closer to its "
        "question than a control of the same length; 0.5 is chance. Difference, effect size and AUC compare haystacks "
        "of all questions with controls of all questions, by normalised similarity.",
        "95 % bootstrap intervals over questions. Unread: percent of haystacks whose needle is wholly or partly "
        "past the encoder's limit.",
    ]
    if invalid := max((cell.invalid for *_, cell in _cells(found)), default=0):
        notes.append(
            f"{invalid} questions have a cosine of at most 0 with the needle alone, so they "
            "are excluded from the normalised measures."
        )
    header = ["length", "needle", "questions", "haystacks", *(_HEADS.get(name, name) for name in _MAIN), "unread, %"]
    return Section(MAIN, "Needles by length", notes, header, rows, 2, "needles")


def _unread(found: Analysis, config: str) -> str:
    reach = found.reach[config]
    return _share(reach.share("needle_cut") + reach.share("needle_past"))


def _reach(found: Analysis, encoder: Mapping[str, Any]) -> Section:
    limit = encoder["limit"]
    rows = [
        [
            label(found, config),
            f"{reach.tokens:,.0f}",
            "none" if limit is None else f"{limit:,}",
            _share(reach.cut),
            _share(reach.share("needle_cut")),
            _share(reach.share("needle_past")),
        ]
        for config, reach in found.reach.items()
    ]
    header = ["length", "tokens, mean", "limit", "cut, %", "needle cut, %", "needle past the limit, %"]
    return Section("reach", "How much of a haystack is read", _reasons(found, encoder), header, rows, 1, "limit")


def _reasons(found: Analysis, encoder: Mapping[str, Any]) -> list[str]:
    """Notes on truncated texts."""
    counted = (
        "Tokens are the encoder's, with prompt and special tokens; lengths are in tokens of the dataset's tokenizer."
    )
    cut = [config for config in found.configs if found.reach[config].cut > 0]
    if not cut:
        return [counted, f"{encoder['name']} reads every haystack in full."]
    notes = [
        counted,
        f"{encoder['name']} reads the first {encoder['limit']:,} tokens of a text. From {label(found, cut[0])} on, "
        "haystacks are longer and are truncated there.",
    ]
    if found.spread is not None:
        notes.append(
            "A needle past the limit is not in the embedding, so similarity cannot depend on it: within a question "
            f"and length it differs by at most {number(found.spread, 6)} between all such needles. The drop there "
            "reflects the share of needles that are read, not the model's handling of long texts."
        )
    return notes


def _parts(found: Analysis, field: str, needle: Needle) -> Section:
    keys = [key for key in found.cells if getattr(key, field) is not None and key.needle == needle]
    rows = [
        [
            str(value),
            *(_ratio_and_normalised(found.cells.get(_key(config, needle, field, value))) for config in found.configs),
        ]
        for value in dict.fromkeys(getattr(key, field) for key in keys)
    ]
    title = f"{'Word order' if field == 'order' else 'Categories'}, {_TITLES[needle]} needles"
    notes = ["Ratio against controls with its interval, and below it the normalised similarity; one column per length."]
    header = [field, *labels(found)]
    return Section(f"{field}-{needle}", title, notes, header, rows, 1, folded=field == "category")


def _key(config: str, needle: Needle, field: str, value: Any) -> Key:
    return Key(0, config, needle)._replace(**{field: value})


def _ratio_and_normalised(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    normalised = cell.measures["normalised"]
    return f"{_estimate(cell.measures['ratio'])}\n{number(normalised.mean if normalised else None)}"


def _depths(found: Analysis, needle: Needle) -> Section:
    depths = sorted({key.depth for key in found.cells if key.depth is not None and key.needle == needle})
    rows = []
    for depth in depths:
        cells = [found.cells.get(Key(0, config, needle, depth=depth)) for config in found.configs]
        rows.append([str(depth), *(_estimate(cell.measures["normalised"]) if cell else "–" for cell in cells)])
    notes = [
        "Normalised similarity by depth of the needle, in percent of the other text; one column per length. A short "
        "haystack has fewer positions than depths, so two depths may be the same position."
    ]
    header = ["depth", *labels(found)]
    return Section(f"depth-{needle}", f"Depth, {_TITLES[needle]} needles", notes, header, rows, 1)


def _position(found: Analysis) -> Section:
    rows = [
        [label(found, config), _TITLES[needle], *(_estimate(cell.measures[name]) for name in ("correlation", "slope"))]
        for config, needle, cell in _cells(found)
    ]
    notes = [
        "Normalised similarity over the needle's position in the text (0 to 1): Pearson's "
        "correlation, and the least-squares slope, which is the change from beginning to end."
    ]
    return Section("position", "Position", notes, ["length", "needle", "correlation", "slope"], rows, 2)


def _expansion(found: Analysis, record: Mapping[str, Any]) -> Section:
    names = ("normalised", "ratio", "auc")
    rows = []
    for needle in NEEDLES:
        for config in found.configs if len(found.terms) > 1 else []:
            for terms in found.terms:
                if cell := found.cells.get(Key(terms, config, needle)):
                    query = found.queries[terms]
                    estimates = [_estimate(cell.measures[name]) for name in names]
                    asked = [f"{query.tokens:.0f}", _share(query.cut)]
                    rows.append([_TITLES[needle], label(found, config), str(terms or "none"), *estimates, *asked])
    notes = [
        "The expanded question is compared with the haystacks and with the needle alone, which divides the similarity."
    ]
    if record["expand"]:
        means = ", ".join(f"{found.queries[n].added:.0f} of {n}" for n in found.terms if n)
        notes.append(f"Terms from {record['expand']['from']}; added per question, on average: {means}.")
    header = ["needle", "length", "terms", *(_HEADS.get(name, name) for name in names), "question, tokens", "cut, %"]
    return Section("expansion", "Expanded questions", notes, header, rows, 3, "expansion")


def _run(record: Mapping[str, Any]) -> Section:
    encoder, dataset = record["encoder"], record["dataset"]
    shown: Sequence[tuple[str, Any]] = (
        ("encoder", encoder["name"]),
        ("model files", encoder["files"]),
        ("numbers", encoder["dtype"]),
        ("limit", "none" if encoder["limit"] is None else f"{encoder['limit']:,} tokens"),
        ("query prompt", repr(encoder["query_prompt"])),
        ("passage prompt", repr(encoder["passage_prompt"])),
        ("dataset", f"{dataset['name']} {dataset['version']}"),
        ("manifest sha256", dataset["manifest_sha256"]),
        ("questions per category", record["limit"] or "all"),
    )
    rows = [[name, str(value)] for name, value in shown]
    return Section("run", "Run", [], ["setting", "value"], rows, 2, folded=True)
