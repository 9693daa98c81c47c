"""Facts from a dataset's manifest and statistics, in words: for its card and its Croissant file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from builders.figure import ROLES
from builders.languages import needs_strict
from builders.manifest import Manifest
from builders.synthetic import kind_of
from builders.tasks import TaskSpec
from dataset_cards.order import in_order

Record = dict[str, Any]

CITATION = """@misc{qiu2025icr2,
  title = {Eliciting In-context Retrieval and Reasoning for Long-context Large Language Models},
  author = {Qiu, Yifu and Embar, Varun and Zhang, Yizhe and Jaitly, Navdeep
            and Cohen, Shay B. and Han, Benjamin},
  year = {2025},
  eprint = {2501.08248},
  archivePrefix = {arXiv}
}"""

SOURCES = {  # by the source's name for the task
    "nq": "questions with a short answer, after [Natural Questions](https://aclanthology.org/Q19-1026)",
    "hotpotqa": "questions that need two pages, after [HotpotQA](https://arxiv.org/abs/1809.09600)",
    "fever": "claims to verify, after [FEVER](https://arxiv.org/abs/1803.05355)",
    "wow": "conversations to continue, after [Wizard of Wikipedia](https://arxiv.org/abs/1811.01241)",
    "musique": "questions of several hops, after [MuSiQue](https://arxiv.org/abs/2108.00573)",
    "controlled_1hop": "questions about one invented fact",
    "controlled_2hop": "questions about two invented facts, the second about the object of the first",
    "twowiki": "questions that need several pages, after [2WikiMultiHopQA](https://arxiv.org/abs/2011.01060)",
}

FLAGS = {
    "underfull": "the prompt fills less than 0.9 of its budget (0.75 in contexts below 2k, where a passage is a large "
    "step)",
    "short_pool": "a stream of candidates ran out before the budget did",
    "answer_filter_not_applicable": "the answer is a label, yes or no, so the answer filter does not apply",
    "ambiguous_title": "several pages have the title of its evidence, and gold is the one with the answer",
    "answer_not_in_gold": "no gold passage contains an answer, so it must follow from other words",
    "hop_without_gold": "its source names evidence on more pages than gold is from",
    "article_answer": "an answer is only an article, and matches almost any text",
    "unmatchable_answer": "an answer has no letters or digits, and matches no text",
    "marked_answer": "an answer has a sign or mark that tells it from another, which the strict scores compare",
    "answer_in_given": "a distractor that the source provides with the query contains an answer",
}

_REASONS = {
    "no_gold": "the record names no evidence",
    "no_answer": "the record has no answer",
    "empty_input": "the record has no query",
    "several_turns": "a query of several turns",
    "no_label": "no answer of the claim is a label of the task",
    "not_a_label": "an answer of a claim that is not a label of the task",
    "empty_page": "the page has no text",
    "missing_page": "a page of the evidence is not in the knowledge source",
    "no_passage": "the evidence touches no passage",
    "bad_pid": "the evidence names a paragraph that its page does not have",
    "dup_input": "an earlier record has the same normalised query",
    "too_few": "the recipe asks for more questions than its files have",
    "queries_without_hits": "a retriever found nothing for a query",
    "repeated_page": "a paragraph that occurred before",
    "long_sentence": "a sentence longer than the limit of a fragment",
    "short_fragment": "a fragment of fewer than 8 tokens",
    "unfinished_fragment": "a fragment without a final full stop",
    "too_few_fragments": "a haystack with too few fragments for its question",
    "given_gold_overlap": "a distractor of the source that repeats a gold paragraph",
    "given_near_duplicate": "a distractor of the source that repeats another",
}
_NO_LOSS = {"read", "pages", "passages", "gold", "queries", "pooled", "groups", "rows", "fragments", *FLAGS}


def description(manifest: Manifest, statistics: Mapping[str, Any]) -> str:
    """A dataset in one sentence."""
    queries = sum(statistics["dataset"]["queries"].values())
    found = (manifest.configs[config].length for config in in_order(manifest.configs))
    lengths = list(dict.fromkeys(length for length in found if length is not None))
    if kind := manifest.recipe.get("kind"):
        return (
            f"{queries:,} queries of {joined(list(manifest.tasks))} over contexts of "
            f"{joined(lengths)} tokens. {kind_of(kind).says}"
        )
    among = (
        "confounders that retrievers found and random passages" if has_confounders(statistics) else "random passages"
    )
    return (
        f"{queries:,} queries of {joined(list(manifest.tasks))}, each with its answers and with contexts "
        f"of {joined(lengths)} tokens that mix its gold passages with {among}: a benchmark of in-context "
        "retrieval and reasoning."
    )


def has_confounders(statistics: Mapping[str, Any]) -> bool:
    """Whether any context has a retrieved passage."""
    return any(group["confounders"] for splits in statistics["configs"].values() for group in splits.values())


def joined(words: Sequence[str]) -> str:
    """Words as a list in a sentence: `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def about(task: TaskSpec) -> str:
    """A description of a task's queries, in Markdown."""
    return SOURCES.get(task.source, task.says.says)


def left_out(manifest: Manifest) -> list[Record]:
    """What the build excluded before and after the filter: stage, reason, count and meaning."""
    return [
        {"stage": stage, "reason": reason, "n": n, "means": _meaning(reason)}
        for stage, counts in manifest.counts.items()
        if stage != "filter"
        for reason, n in sorted(counts.items())
        if n and reason not in _NO_LOSS and not reason.endswith("_questions")
    ]


def _meaning(reason: str) -> str:
    if reason.startswith("gold_over_budget_loft_"):
        return "a query whose gold fills more than 0.6 of the budget"
    if reason.startswith("gold_over_budget_"):
        return "a query whose gold exceeds the budget, counted once for each ratio or depth"
    if reason.startswith("coverage_"):
        return "questions by how many of their articles are in the source"
    if reason.startswith("given_over_budget_"):
        return "a query whose given paragraphs exceed the budget"
    return _REASONS.get(reason, "")


def filtered(counted: Mapping[str, Mapping[str, int]]) -> list[Record]:
    """Candidates of both streams that the filter kept and dropped, by reason; kept first."""
    counts = counted.get("filter", {})
    by_reason: dict[str, Counter[str]] = {"kept": Counter()}
    for key, n in sorted(counts.items()):
        stream, _, reason = key.partition("_")
        if stream in ("retrieved", "random"):
            by_reason.setdefault(reason, Counter())[stream] += n
    return [{"reason": reason, **{s: found[s] for s in ("retrieved", "random")}} for reason, found in by_reason.items()]


def flags(statistics: Mapping[str, Any]) -> list[Record]:
    """Every flag of a row: rows, their share, the configs with the largest share, and its meaning."""
    found: dict[str, Counter[str]] = {}
    rows: Counter[str] = Counter()
    for config, splits in statistics["configs"].items():
        for group in splits.values():
            rows[config] += group["rows"]
            for flag, n in group["flags"].items():
                found.setdefault(flag, Counter())[config] += n
    table = []
    for flag, counts in sorted(found.items()):
        shares = {config: counts[config] / n for config, n in rows.items()}
        highest = max(shares.values())
        most = [f"`{config}`" for config, share in shares.items() if share == highest]
        table.append(
            {
                "flag": flag,
                "rows": counts.total(),
                "share": counts.total() / rows.total(),
                "most": "every config" if len(most) == len(shares) else joined(most),
                "highest": highest,
                "means": FLAGS.get(flag, ""),
            }
        )
    return table


def retrievers(manifest: Manifest) -> list[Record]:
    """Each retriever's name, kind, model with its digest, list length, and the libraries that its scores depend on."""
    described = []
    for name, made in manifest.retrievers.items():
        spec = (manifest.recipe.get("retrievers") or {}).get(name, {})
        model = spec.get("model") or ""
        described.append(
            {
                "name": name,
                "kind": made.get("says", "a finished run"),
                "model": f"{model} ({str(made['model'])[:12]})" if model and "model" in made else model,
                "list": f"{spec['k']:,} {made.get('level', 'passage')}s" if "k" in spec else "",
                "libraries": ", ".join(
                    _named(key, str(value)) for key, value in made.items() if key not in _NO_LIBRARY
                ),
                "run": str(made.get("run_sha256", ""))[:12],
            }
        )
    return described


def _named(library: str, version: str) -> str:
    return version if version.startswith(library) else f"{library} {version}"


_NO_LIBRARY = {"run_sha256", "model", "query_model", "from", "says", "level", "neural"}


def absent_retrievers(recipe: Mapping[str, Any]) -> list[str]:
    """The paper's retrievers (section 3.2) without a counterpart in the recipe; none where it has runs."""
    specs = list(recipe.get("retrievers", {}).values())
    if not specs or recipe.get("runs"):
        return []

    def has(*kinds: str, model: str = "") -> bool:
        return any(spec["kind"] in kinds and model in (spec.get("model") or "").lower() for spec in specs)

    present = {
        "BM25": has("bm25", "bm25s"),
        "DPR": has("dense", model="dpr"),
        "Contriever": has("dense", model="contriever"),
        "DrQA": has("tfidf"),
        "BLINK": has("entity", model="blink"),
    }
    return [name for name, there in present.items() if not there]


def limits(manifest: Manifest, statistics: Mapping[str, Any]) -> Iterator[str]:
    """Limits of the dataset that its numbers show, one or two sentences each, in Markdown."""
    recipe = manifest.recipe
    if "kind" not in recipe and has_confounders(statistics) and (absent := absent_retrievers(recipe)):
        named = joined([f"`{name}`" for name in manifest.retrievers])
        yield (
            f"Of the paper's five retrievers (BM25, DPR, Contriever, DrQA, BLINK), {joined(absent)} "
            f"{'was' if len(absent) == 1 else 'were'} not used. The confounders come from {named}, so they are not "
            "those of the paper's own dataset."
        )
    unfiltered = [task for task in manifest.tasks if _share(statistics, task, "answer_filter_not_applicable") == 1]
    if unfiltered:
        named = joined([f"`{task}`" for task in unfiltered])
        yield (
            f"The answers of {named} are not text to search for, so its confounders are only filtered for overlap with "
            "the evidence: a confounder may support the answer by itself."
        )
    corpus, used = manifest.counts.get("chunk", {}).get("passages"), statistics["dataset"]["distinct_passages"]
    if corpus:
        yield f"{used:,} of the knowledge source's {corpus:,} passages occur in a context, so queries share passages."
    if strict := [name for name, task in manifest.tasks.items() if needs_strict(manifest.language, task.kind)]:
        yield (
            f"The published scores cannot read the answers of {joined([f'`{name}`' for name in strict])} in "
            f"`{manifest.language}`: report the strict column (`_strict`), which `icr2 eval` uses as headline."
        )
    for (split, n, asked), configs in _short_splits(manifest, statistics).items():
        where = "every config" if len(configs) == len(manifest.configs) else joined([f"`{c}`" for c in configs])
        yield f"The split `{split}` of {where} has {n:,} rows, and the recipe asks for {asked:,}."


def _share(statistics: Mapping[str, Any], task: str, flag: str) -> float:
    groups = [
        split["tasks"][task]
        for splits in statistics["configs"].values()
        for split in splits.values()
        if task in split["tasks"]
    ]
    rows = sum(group["rows"] for group in groups)
    return sum(group["flags"].get(flag, 0) for group in groups) / rows if rows else 0.0


def _short_splits(manifest: Manifest, statistics: Mapping[str, Any]) -> dict[tuple[str, int, int], list[str]]:
    """Configs by (split, rows, rows that the recipe asks for) where they have fewer."""
    recipe = manifest.recipe
    asked: Counter[str] = Counter()
    for task in recipe.get("tasks", {}).values():
        for split, take in task.get("take", {}).items():
            asked[split] += min(take["n"], recipe.get("limit") or take["n"])
    short: dict[tuple[str, int, int], list[str]] = {}
    for config in in_order(manifest.configs):
        for split, group in statistics["configs"][config].items():
            if group["rows"] < asked[split]:
                short.setdefault((split, group["rows"], asked[split]), []).append(config)
    return short


def role_means(group: Mapping[str, Any]) -> str:
    """Mean passages by role, as `1.25 / 4.0 / 2.1` in the order gold, confounder, random."""
    others = [group["roles"][role] * group["passages"]["mean"] for role in ROLES[1:]]
    return " / ".join([f"{group['gold']['mean']:.2f}", *(f"{mean:.1f}" for mean in others)])
