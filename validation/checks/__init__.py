"""Every check, in the order in which it is reported; a new one is a file here and a line in CHECKS."""

from validation.checks import (
    answer_in_context,
    answer_in_gold,
    answer_in_query,
    artefact,
    budget,
    complete,
    context,
    encoding,
    flags,
    gold,
    gold_overlap,
    gold_page_overlap,
    gold_position,
    ids,
    manifest,
    markers,
    matched,
    near_duplicate,
    near_gold,
    near_query,
    nested,
    order,
    other_notation,
    passage_twice,
    pid_text,
    query_in_passage,
    question,
    ratio,
    retriever_shares,
    roles,
    rows,
    same_gold,
    schema,
    sibling_answer,
    split_overlap,
    token_count,
    waiver,
)
from validation.checks.base import Check

_MODULES = (
    # the files
    rows, schema, manifest,
    # each row for itself
    ids, complete, gold, roles, ratio, budget, token_count, flags, passage_twice, pid_text, context,
    # rows against each other
    question, matched, same_gold, nested, order, split_overlap,
    # leaks
    answer_in_context, waiver, gold_overlap, near_duplicate, markers, gold_position, artefact,
    # what a user should know
    answer_in_gold, other_notation, sibling_answer, near_gold, query_in_passage, answer_in_query,
    gold_page_overlap, near_query, retriever_shares, encoding,
)  # fmt: skip
CHECKS: dict[str, Check] = {module.CHECK.name: module.CHECK for module in _MODULES}
