"""Token counts are those of the rendered prompt, or in a dataset of needles of the haystack's text."""

import pyarrow as pa

from builders.errors import SetupError
from builders.prompts import BLANK_LINE, block, frame, haystack, render
from validation.checks.base import Check
from validation.measures import Measures
from validation.own_count import OwnCounter, own_counter

EXACT = 2  # rows of each split that are rendered and counted in full, besides those that hold a control token's text
MOST = 300  # such rows of the latter kind
SLACK = 0.01  # tolerated difference between the sum of parts and the whole


def _find(m: Measures) -> str:
    name = m.dataset.manifest.tokenizer_name()
    counter = own_counter(name)
    if m.dataset.manifest.tokenizer and counter.sha256 != m.dataset.manifest.tokenizer.sha256:
        raise SetupError(
            f"the tokenizer {name} differs from the dataset's (another sha256); "
            "install the right version, or run with --skip token_count"
        )
    _count_parts(m, counter)
    found = m.found("token_count", [(row, None, what) for row, what in _counted_in_full(m, counter)], "row pid detail")
    return f"""
        {found} UNION ALL
        SELECT "row", NULL, 'says ' || n_tokens || ' tokens, its parts make ' || parts FROM (
            SELECT "row", n_tokens, f.tokens + p.tokens AS parts FROM instances
            JOIN frame_tokens f USING (question)
            JOIN (SELECT "row", sum(b.tokens + n.tokens)::BIGINT AS tokens FROM placements
                  JOIN block_tokens b USING (text) JOIN number_tokens n USING ("position")
                  GROUP BY "row") p USING ("row"))
        WHERE abs(n_tokens - parts) > greatest(8, {SLACK} * parts)
    """


def _count_parts(m: Measures, counter: OwnCounter) -> None:
    reader = m.connection.cursor().sql("SELECT text, title, body FROM texts ORDER BY text").to_arrow_reader(4096)
    m.connection.execute("CREATE OR REPLACE TABLE block_tokens (text INTEGER, tokens INTEGER, tagged BOOLEAN)")
    for batch in reader:
        text, titles, bodies = (column.to_pylist() for column in batch.columns)
        if _are_haystacks(m):
            blocks = [BLANK_LINE + body for body in bodies]
        else:
            blocks = [block(1, title, body) for title, body in zip(titles, bodies, strict=True)]
        tagged = [counter.has_tag([block]) for block in blocks]
        counted = pa.table({"text": text, "tokens": counter.count_all(blocks), "tagged": tagged})
        m.connection.register("counted", counted)
        m.connection.execute("INSERT INTO block_tokens SELECT * FROM counted")
    tasks = m.dataset.manifest.tasks
    questions = [
        (question, tasks[task], query)
        for question, task, query in m.sql("SELECT question, task, query FROM questions WHERE query IS NOT NULL")
        if task in tasks
    ]
    frames = ["" if _are_haystacks(m) else frame(task, query) for _, task, query in questions]
    columns = {
        "question": [question for question, _, _ in questions],
        "tokens": pa.array(counter.count_all(frames), pa.int64()),
        "tagged": pa.array([counter.has_tag([one]) for one in frames], pa.bool_()),
    }
    m.keep("frame_tokens", pa.table(columns))
    most = m.sql("SELECT coalesce(max(n_passages), 0) FROM instances")[0][0]
    one, *numbers = counter.count_all([str(number) for number in range(1, most + 2)])
    more = [0, *(0 if _are_haystacks(m) else n - one for n in numbers)]  # than the block numbered 1 has
    m.keep("number_tokens", pa.table({"position": list(range(len(more))), "tokens": pa.array(more, pa.int64())}))


def _are_haystacks(m: Measures) -> bool:
    """Whether the rows are haystacks, which are given to embedding models without a prompt."""
    return {m.dataset.manifest.configs[config].family for config in m.dataset.configs} == {"needles"}


def _counted_in_full(m: Measures, counter: OwnCounter) -> list[tuple[int, str]]:
    found = []
    for row, task, query, n_tokens, titles, bodies in m.sql(f"""
        SELECT "row", any_value(q.task), any_value(query), any_value(n_tokens),
               list(title ORDER BY "position"), list(body ORDER BY "position")
        FROM (SELECT * FROM instances WHERE task IN (SELECT task FROM tasks)
              QUALIFY row_number() OVER (PARTITION BY config, split ORDER BY hash(id), "row") <= {EXACT}
              OR "row" IN (
                  SELECT "row" FROM placements JOIN block_tokens USING (text) WHERE tagged
                  UNION SELECT "row" FROM instances JOIN frame_tokens USING (question) WHERE tagged
                  ORDER BY "row" LIMIT {MOST}))
        JOIN questions q USING (question) JOIN placements USING ("row") JOIN texts USING (text)
        WHERE query IS NOT NULL GROUP BY "row" ORDER BY "row" """):
        prompt = render(m.dataset.manifest.tasks[task], query, list(zip(titles, bodies, strict=True))).text
        counted = counter.count(haystack(bodies) if _are_haystacks(m) else prompt)
        if counted != n_tokens:
            found.append((row, f"says {n_tokens} tokens, its text has {counted}"))
    return found


CHECK = Check(
    name="token_count",
    says="n_tokens is that of the rendered prompt (needles: the text): summed over parts, counted in full for a sample "
    "and for rows with the text of a control token, which is plain text",
    why="contexts do not have the length of their config",
    severity="error",
    unit="instance",
    find=_find,
)
