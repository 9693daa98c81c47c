"""What a build says about configs that miss their length, and the k of the retrievers that would leave enough."""

from collections.abc import Mapping, Sequence
from math import ceil, inf
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from builders.config import Recipe
from builders.manifest import Manifest
from builders.summary import statistics
from builders.work import Build

SAME = 0.95  # of the tokens of the longest ratio: what differs by less is one passage more or less

Means = Mapping[str, Mapping[str, float]]  # config -> rows, passages, tokens and how many rows ran short


def length_notes(build: Build[Any], out: Path, manifest: Manifest) -> list[str]:
    """One line for each config that misses its length, and each length whose ratios differ in tokens, with a remedy."""
    means = _means(statistics(out))
    return [*_missed(means, manifest), *_uneven(means, manifest), *_fitting_k(build, means, manifest)]


def _means(records: Sequence[Mapping[str, Any]]) -> Means:
    """The means of each config over all splits."""
    found: dict[str, dict[str, float]] = {}
    for record in records:
        mean = found.setdefault(record["config"], {"rows": 0, "passages": 0, "tokens": 0, "short": 0})
        rows = mean["rows"] + record["rows"]
        for name in ("passages", "tokens"):
            mean[name] = (mean[name] * mean["rows"] + record[name] * record["rows"]) / rows
        mean["rows"], mean["short"] = rows, mean["short"] + record["short_pool"]
    return found


def _missed(means: Means, manifest: Manifest) -> list[str]:
    lines = []
    for name, config in manifest.configs.items():
        if config.tokens and config.budget and name in means:
            if means[name]["passages"] >= (config.passages or inf):
                continue
            tokens = means[name]["tokens"]
            if tokens < (0.75 if config.tokens < 2048 else 0.9) * config.budget:
                lines.append(
                    f"{name} misses its length: {tokens:,.0f} of {config.budget:,} tokens on average, since passages "
                    "run out; use shorter lengths or a larger corpus"
                )
    return lines


def _uneven(means: Means, manifest: Manifest) -> list[str]:
    by_length: dict[str, dict[str, float]] = {}
    for name, config in manifest.configs.items():
        if config.ratio is not None and config.length and name in means:
            by_length.setdefault(config.length, {})[name] = means[name]["tokens"]
    lines = []
    for length, tokens in by_length.items():
        least, most = min(tokens, key=tokens.__getitem__), max(tokens, key=tokens.__getitem__)
        if tokens[least] < SAME * tokens[most]:
            lines.append(
                f"the ratios of {length} differ in tokens: {least} {tokens[least]:,.0f}, {most} {tokens[most]:,.0f}; "
                "their differences in scores would mislead"
            )
    return lines


def _fitting_k(build: Build[Any], means: Means, manifest: Manifest) -> list[str]:
    """The k with which random passages last for every ratio of 0, where they ran out."""
    names = [
        name
        for name, config in manifest.configs.items()
        if config.ratio == 0 and name in means and means[name]["short"]
    ]
    if not isinstance(build.recipe, Recipe) or not names:
        return []
    longest = max(names, key=lambda name: manifest.configs[name].budget or 0)
    budget, mean = manifest.configs[longest].budget or 0, means[longest]
    counts = build.counts("filter")
    drawn = sum(n for name, n in counts.items() if name.startswith("random_"))
    needed = ceil(budget / mean["tokens"] * mean["passages"] * drawn / max(1, counts.get("random_kept", 0)))
    corpus, found = len(build.corpus), _most_pooled(build)
    says = f"{longest} runs out of random passages: a question's retrievers take up to {found:,} of {corpus:,} passages"
    if needed >= corpus or not found:
        return [f"{says}, and about {needed:,} are needed; use shorter lengths or a larger corpus"]
    share = (corpus - needed) / found
    if share >= 1:
        return []
    if build.recipe.runs:
        return [f"{says}; use runs with at most {share:.0%} of their hits"]
    ks = {name: int(spec.k * share) for name, spec in build.recipe.retrievers.items()}
    if not all(ks.values()):
        return [f"{says}; use shorter lengths or a larger corpus"]
    return [f"{says}; this would fit: " + " ".join(f"--set retrievers.{name}.k={k}" for name, k in ks.items())]


def _most_pooled(build: Build[Any]) -> int:
    """The largest number of passages that all retrievers together found for a question."""
    sizes = (pc.value_counts(table.column("qid")).field("counts") for table in build.tables("pool"))
    return max((pc.max(size).as_py() or 0 for size in sizes), default=0)
