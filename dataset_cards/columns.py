"""What each column of a dataset holds, in plain words."""

COLUMNS = {
    "id": "{task}-{source id}, the same in every config",
    "config": "the config that the row is of",
    "question_id": "the same in every row that asks this question",
    "context_id": "rows with the same one share their whole context",
    "task": "the task's name",
    "kind": "of the task: qa, fact, dialogue, set or needle",
    "query": "the question, claim or conversation, as the source has it",
    "answers": "the canonical answer first, then its aliases",
    "answer_kind": "text, label, yesno or none",
    "passages": "the context, in the order in which it stands in the prompt",
    "gold": "positions of the gold passages in passages, from 0",
    "depth": "where the first gold passage stands, in per cent of the other passages' tokens, where the config sets it",
    "n_tokens": "tokens of the whole prompt",
    "confounding_ratio": "achieved: confounders, of the passages that are not gold",
    "hops": "steps of reasoning, as the source has them",
    "reasoning_types": "kinds of reasoning, as the source has them",
    "flags": "what a user must know of the row",
}
MEMBERS = {
    "pid": "{page id}:{n}, the n-th passage of its page",
    "title": "the title of its page",
    "text": "the passage",
    "role": "gold, confounder or random",
    "retrievers": "all that found it; none for gold and random",
    "rank": "the best rank that a retriever gave it",
    "score": "its score with the first of its retrievers",
}
