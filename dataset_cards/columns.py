"""A description of each column of a dataset."""

COLUMNS = {
    "id": "{task}-{source id}, the same in every config",
    "config": "the config of the row",
    "question_id": "shared by all rows of this question",
    "context_id": "rows with the same id share their whole context",
    "task": "the task's name",
    "kind": "kind of the task: qa, fact, dialogue, set or needle",
    "query": "the question, claim or conversation, as in the source",
    "answers": "the canonical answer first, then its aliases",
    "answer_kind": "text, label, yesno or none",
    "passages": "the context, in the order of the prompt",
    "gold": "positions of the gold passages in passages, from 0",
    "depth": "percentage of the other passages' tokens before the first gold passage, where the config sets it",
    "n_tokens": "tokens of the whole prompt",
    "confounding_ratio": "achieved share of confounders among the non-gold passages",
    "hops": "number of reasoning steps, as in the source",
    "reasoning_types": "kinds of reasoning, as in the source",
    "flags": "remarks on the row",
}
MEMBERS = {
    "pid": "{page id}:{n}, the n-th passage of its page",
    "title": "the title of its page",
    "text": "the passage",
    "role": "gold, confounder or random",
    "retrievers": "all retrievers that found it; none for gold and random",
    "rank": "its best rank",
    "score": "its score from the first of its retrievers",
}
