"""The protocol's tables as text."""

from collections.abc import Iterator, Mapping, Sequence

from eval_harness.protocols.agreement import agreement
from eval_harness.protocols.oncu.analysis import Analysis
from eval_harness.protocols.oncu.audit import pairs_of
from eval_harness.protocols.oncu.fields import BESIDE, FIELDS
from eval_harness.protocols.oncu.groups import INSTANCE, Group
from eval_harness.protocols.oncu.heatmap import INVALID, depths_of
from eval_harness.protocols.oncu.matched import CITING, FULL, NONE, ORACLE, Matched
from eval_harness.protocols.oncu.modes import MEANINGS, counts, spoilt
from eval_harness.protocols.oncu.recovery import LEAST_VALID, Estimate
from eval_harness.protocols.oncu.summary import Share, shares
from eval_harness.report.parts import Section
from eval_harness.report.sections import number, points
from eval_harness.report.statistics import Interval
from eval_harness.report.table import percent
from eval_harness.run.results import Row
from eval_harness.scoring.base import Scorer

_EXAMPLES = 3  # of each mode
_LONGEST = 100  # characters of an example's answer


def sections(found: Analysis) -> list[Section]:
    """Every non-empty table, in reading order."""
    contexts = list(dict.fromkeys(context for one in found.matched for context in one.contexts))
    made = [
        _groups(found, contexts),
        _scores(found, contexts),
        _validity(found, contexts),
        _positions(found),
        _modes(found),
        _examples(found),
        _agreement(found),
        _left_out(found),
        _conditions(found),
    ]
    return [section for section in made if section.rows]


def _groups(found: Analysis, contexts: Sequence[str]) -> Section:
    """The main table; if every instance is a group, its lines are only in oncu.csv."""
    rows = []
    for group, field, estimate in _lines(found, FIELDS):
        scores = [_mean(estimate.scores.get(method)) for method in (NONE, *contexts, ORACLE)]
        recovered = [_recovery(estimate, context) for context in contexts]
        rows.append([_named(group), field, str(estimate.n), *scores, _advantage(estimate), *recovered])
    notes = [
        "R = (context − closed_book) / (oracle − closed_book), the share of the oracle's advantage that a context "
        "recovers, with its 95 % bootstrap interval over questions, each with all its instances and conditions; also "
        "clipped to [0, 1]. Do not rank models by R: read it with the scores, which are in percent.",
        f"{INVALID}: oracle scores no higher than closed_book, so there is no advantage to recover and R is "
        f"undefined. R has no interval if under {percent(LEAST_VALID)} % of the resamples define it.",
    ]
    notes += [note for one in found.matched for note in _whole(one)]
    header = ["group", "field", "n", *map(_short, (NONE, *contexts, ORACLE)), "oracle − closed_book"]
    title = f"What contexts recover, by {found.by}"
    return Section("oncu", title, notes, [*header, *(f"R {_short(c)}" for c in contexts)], rows, 2, "ONCU")


def _scores(found: Analysis, contexts: Sequence[str]) -> Section:
    rows = []
    for group, field, estimate in _lines(found, (*FIELDS, BESIDE)):
        scores = [_score(estimate.scores.get(method)) for method in (NONE, *contexts, ORACLE)]
        rows.append([_named(group), field, str(estimate.n), *scores])
    notes = [
        "Percent with 95 % bootstrap intervals, over the same instances in every condition; unparsed and failed "
        "answers count as wrong. retrieval_recall is the share of gold that was shown.",
        *_other_measures(found.study.scorers),
    ]
    header = ["group", "field", "n", *map(_short, (NONE, *contexts, ORACLE))]
    return Section("scores", f"Scores by condition, by {found.by}", notes, header, rows, 2, "Scores")


def _validity(found: Analysis, contexts: Sequence[str]) -> Section:
    rows = []
    for share in shares(found.groups, found.by):
        if share.field.endswith("_strict"):
            continue
        means = [_mean_recovery(share, context) for context in contexts]
        valid = f"{share.valid} of {share.groups}\n{percent(share.valid / share.groups)} %"
        rows.append([share.config, share.model, share.field, valid, *means])
    notes = [
        f"Groups by {found.by} with a valid denominator, and the unweighted mean of their R, raw and clipped. "
        "Groups without a valid denominator are excluded: if they are many, the means describe only the rest."
    ]
    header = ["config", "model", "field", "valid groups", *(f"mean R {_short(context)}" for context in contexts)]
    return Section("validity", "Denominator validity", notes, header, rows, 3, "Validity")


def _positions(found: Analysis) -> Section:
    depths = depths_of(found.grids)
    rows = []
    for grid in found.grids:
        for config in grid.configs:
            cells = [grid.cells.get((config, depth)) for depth in depths]
            rows.append([config, grid.model, *(_cell(cell) if cell else "–" for cell in cells)])
    notes = [
        "By depth of the gold, in percent of the context: R of the full context in the headline score, clipped; the "
        "score in percent; n."
    ]
    header = ["config", "model", *map(str, depths)]
    return Section("positions", "Length against position", notes, header, rows, 2, "Positions")


_SPOILT = "Spoilt: wrong with the context, though right without any (misled) or with gold alone (the last three)."


def _modes(found: Analysis) -> Section:
    rows = []
    for one, modes in zip(found.matched, found.modes, strict=True):
        for context, of_context in modes.items():
            counted = counts(of_context)
            n = max(1, len(of_context))
            cells = [f"{count}\n{percent(count / n)} %" if count else "0" for count in counted.values()]
            wrong = spoilt(of_context)
            cells.append(f"{wrong}\n{percent(wrong / n)} %" if wrong else "0")
            rows.append([one.config, one.model, _short(context), str(len(of_context)), *cells])
    meanings = "; ".join(f"{mode}, {meaning}" for mode, meaning in MEANINGS.items())
    notes = [f"One mode for each instance and context, the first that fits: {meanings}. {_SPOILT}"]
    header = ["config", "model", "context", "n", *MEANINGS, "spoilt"]
    return Section("modes", "Failure modes", notes, header, rows, 3, "Failure modes")


def _examples(found: Analysis) -> Section:
    rows = []
    for one, modes in zip(found.matched, found.modes, strict=True):
        for context, of_context in modes.items():
            for mode in MEANINGS:
                ids = sorted(id for id, given in of_context.items() if given == mode)
                for id in ids[:_EXAMPLES]:
                    mine = one.rows[id]
                    answers = [_answer(mine[method]) for method in (NONE, context, ORACLE)]
                    rows.append([mode, id, one.config, one.model, _short(context), *answers])
    header = ["mode", "id", "config", "model", "context", "answer in closed_book", "with the context", "in oracle"]
    notes = [f"The first {_EXAMPLES} of each mode by id; modes.csv lists all."]
    return Section("examples", "Examples of failure modes", notes, header, rows, 8, folded=True)


def _agreement(found: Analysis) -> Section:
    rows = []
    for key, pairs in pairs_of(found.by_hand, found.matched, found.modes).items():
        if measured := agreement(pairs):
            kappa = "not defined" if measured.kappa is None else number(measured.kappa, 2)
            model, config, context = key
            rows.append([config, model, _short(context), str(measured.n), percent(measured.share), kappa])
    notes = ["Human labels against the protocol's modes: percent agreement, and Cohen's kappa."]
    header = ["config", "model", "context", "n", "alike", "kappa"]
    return Section("agreement", "Agreement with human labels", notes, header, rows, 3, "Agreement")


def _left_out(found: Analysis) -> Section:
    rows = []
    for one in found.matched:
        for method, status in dict.fromkeys((lost.method, lost.status) for lost in one.left_out):
            ids = sorted(lost.id for lost in one.left_out if (lost.method, lost.status) == (method, status))
            shown = ", ".join(ids[:_EXAMPLES]) + (", …" if len(ids) > _EXAMPLES else "")
            rows.append([one.config, one.model, _short(method), status, shown, str(len(ids))])
    notes = ["Instances that one condition cannot count are excluded from all four."]
    header = ["config", "model", "condition", "status", "ids", "n"]
    return Section("left-out", "Left out", notes, header, rows, 5)


def _conditions(found: Analysis) -> Section:
    names = ("split", "decoding", "prompt_version", "citing_version", "scorer_version", "max_new_tokens")
    rows = [
        [label, ", ".join(found.study.runs[label]), *(str(settings.get(name, "–")) for name in names)]
        for label, settings in found.study.settings.items()
    ]
    notes = [f"The same in all conditions. Dataset manifest sha256: {found.study.manifest_sha256}"]
    header = ["model", "runs", *(name.replace("_", " ") for name in names)]
    return Section("contract", "What the conditions share", notes, header, rows, len(header), folded=True)


def _other_measures(scorers: Mapping[str, Scorer]) -> Iterator[str]:
    """Notes the metrics used as F1 and exact match for tasks that have neither."""
    for task, scorer in sorted(scorers.items()):
        fields = scorer.fields
        if (fields.f1, fields.em) != ("token_f1", "em"):
            yield f"{task}: answer_f1 is {fields.f1}, answer_em is {fields.em}."


def _whole(one: Matched) -> Iterator[str]:
    """Notes where a retriever selected all passages, so that its condition equals the full context."""
    for context in one.contexts[1:]:
        same = sum(rows[context].prompt_sha256 == rows[FULL].prompt_sha256 for rows in one.rows.values())
        if same:
            yield (
                f"{_short(context)} showed the full context in {same} of {len(one.rows)} instances of {one.config} "
                f"({one.model}), which have no more passages; choose a smaller --k."
            )


def _lines(found: Analysis, fields: Sequence[str]) -> Iterator[tuple[Group, str, Estimate]]:
    """The fields of every group, without strict ones that equal their official variant."""
    for group in found.groups if found.by != INSTANCE else ():
        for field in fields:
            twin = group.fields[field.removesuffix("_strict")]
            if not field.endswith("_strict") or group.fields[field].scores != twin.scores:
                yield group, field, group.fields[field]


def _named(group: Group) -> str:
    return f"{group.name}\n{group.matched.config}, {group.matched.model}"


def _short(method: str) -> str:
    """The name of a method's condition."""
    return {FULL: "vanilla", ORACLE: "oracle"}.get(method, method.removesuffix(CITING))


def _mean(interval: Interval | None) -> str:
    return percent(interval.mean) if interval else "–"


def _score(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return f"{percent(interval.mean)}\n[{percent(interval.low)}, {percent(interval.high)}]"


def _advantage(estimate: Estimate) -> str:
    mean, low, high, _ = estimate.advantage
    bounds = f"{points(mean)}\n[{points(low)}, {points(high)}]"
    share = estimate.valid_resamples
    return bounds if share == 1 else f"{bounds}\n> 0 in {percent(share)} %"


def _recovery(estimate: Estimate, context: str) -> str:
    found = estimate.recovered.get(context)
    if found is None:
        return "–"
    if found.raw is None or found.clipped is None:
        return INVALID
    bounds = "no interval" if found.low is None else f"[{number(found.low, 2)}, {number(found.high, 2)}]"
    clipped = "" if found.clipped == found.raw else f"\nclipped {number(found.clipped, 2)}"
    return f"{number(found.raw, 2)}\n{bounds}{clipped}"


def _mean_recovery(share: Share, context: str) -> str:
    if context not in share.raw:
        return "–" if share.valid else INVALID
    interval = share.intervals.get(context)
    bounds = f" [{number(interval.low, 2)}, {number(interval.high, 2)}]" if interval else ""
    return f"{number(share.raw[context], 2)}\nclipped {number(share.clipped[context], 2)}{bounds}"


def _cell(estimate: Estimate) -> str:
    clipped = estimate.recovered[FULL].clipped
    recovered = INVALID if clipped is None else number(clipped, 2)
    return f"{recovered}\n{percent(estimate.scores[FULL].mean)}\nn={estimate.n}"


def _answer(row: Row) -> str:
    text = " ".join((row.answer if row.answer is not None else row.error or row.status).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
