"""Evidence: passages cited or kept against gold, and rankings of pages as KILT and LOFT score them."""

from collections.abc import Collection, Iterable, Sequence

METRICS = ("evidence_recall", "evidence_precision", "evidence_f1")
RETRIEVAL_RECALL = "retrieval_recall"  # the share of gold among the passages that a retriever chose to show


def evidence_scores(evidence: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """Recall, precision and F1 of the distinct passage ids in `evidence`; 0 where it is empty, nothing without gold."""
    given, wanted = set(evidence), set(gold)
    if not wanted:
        return {}
    found = len(given & wanted)
    values = found / len(wanted), found / len(given) if given else 0.0, 2 * found / (len(given) + len(wanted))
    return dict(zip(METRICS, values, strict=True))


def ranking(hits: Iterable[tuple[str, float]]) -> list[str]:
    """The distinct ids of scored hits, best first, whatever order they come in; equal scores keep theirs."""
    return list(dict.fromkeys(id for id, _ in sorted(hits, key=lambda hit: -hit[1])))


def pages(pids: Iterable[str]) -> list[str]:
    """The distinct pages of passage ids (`{page}:{n}`), in order."""
    return list(dict.fromkeys(pid.rpartition(":")[0] for pid in pids))


def recall_at(k: int, ranked: Sequence[str], gold: Collection[str], capped: bool = False) -> float:
    """The share of gold among the first k (LOFT); `capped`: of as many as k can hold."""
    return len(set(ranked[:k]) & set(gold)) / (min(k, len(gold)) if capped else len(gold))


def mrecall_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 where the first k hold all of gold, or are all gold (Min et al. 2021, as in LOFT)."""
    return float(recall_at(k, ranked, gold, capped=True) == 1)


def page_scores(ranked: Sequence[str], evidence_sets: Sequence[Collection[str]], k: int) -> dict[str, float]:
    """KILT's `r_precision` and `recall@k` over the pages of each output's provenance, and `recall@k_strict`; 0 to 1.

    `r_precision`: the share of an evidence set's R pages among the first R, best over the sets. `recall@k`: an
    evidence set takes one rank, that of its last page, and counts where that is among the first k (Petroni et al.
    2021, section 5). KILT counts an output without provenance as a set that nothing reaches; the strict one does not.
    Nothing where no set has a page.
    """
    distinct = list(dict.fromkeys(map(frozenset, evidence_sets)))
    reachable = [wanted for wanted in distinct if wanted]
    if not reachable:
        return {}
    first = list(dict.fromkeys(ranked))
    reached = _ranks(ranked, reachable)[:k].count(True)
    return {
        "r_precision": max(len(wanted.intersection(first[: len(wanted)])) / len(wanted) for wanted in reachable),
        f"recall@{k}": reached / len(distinct),
        f"recall@{k}_strict": reached / len(reachable),
    }


def _ranks(ranked: Sequence[str], evidence_sets: Sequence[frozenset[str]]) -> list[bool]:
    """Per rank, whether an evidence set is complete there: it stands at the last of its pages, other pages alone."""
    first = {page: place for place, page in reversed(list(enumerate(ranked)))}
    last = [max((first[page] for page in pages if page in first), default=-1) for pages in evidence_sets]
    ranks: list[bool] = []
    for place, page in enumerate(ranked):
        holding = [i for i, pages in enumerate(evidence_sets) if page in pages and first[page] == place]
        if not holding:
            ranks.append(False)
        ranks += [evidence_sets[i] <= first.keys() for i in holding if last[i] == place]
    return ranks
