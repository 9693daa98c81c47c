"""Values that differ from the most frequent one."""


def odd_sql(key: str, value: str, source: str) -> str:
    """SQL of the pairs (key, value) of a source whose value is not the key's most frequent one.

    Of equally frequent values the smallest counts as correct. Rows without a key are skipped.
    """
    return f"""
        SELECT {key}, {value} FROM (
            SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY n DESC, {value}) AS place
            FROM (SELECT {key}, {value}, count(*) AS n FROM {source} WHERE {key} IS NOT NULL GROUP BY ALL))
        WHERE place > 1
    """
