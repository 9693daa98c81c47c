"""What differs from the most of its kind."""


def odd_sql(key: str, value: str, source: str) -> str:
    """SQL of the pairs (key, value) of a source in which a key has a value that is not its most frequent one.

    Of values that are equally frequent the smallest counts as the right one. Rows without a key are left out.
    """
    return f"""
        SELECT {key}, {value} FROM (
            SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY n DESC, {value}) AS place
            FROM (SELECT {key}, {value}, count(*) AS n FROM {source} WHERE {key} IS NOT NULL GROUP BY ALL))
        WHERE place > 1
    """
