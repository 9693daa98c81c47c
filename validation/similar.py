"""Texts that share most of their word pairs, found without comparing all pairs of texts.

If two texts share a fraction t of the smaller one's n word pairs, any n - ceil(t n) + 1 pairs of the smaller one
include a shared one. So looking up the rarest few pairs of each text misses no pair of texts.
"""

from validation.measures import Measures

NEAR = 0.9  # share of the smaller text's word pairs above which two texts are near duplicates


def ranked_pairs(m: Measures) -> str:
    """The table of word pairs: text, pair (a 64-bit hash), n of the text, rank in the text (rarest first)."""
    m.shared(
        "word_pairs",
        """SELECT DISTINCT text, hash(pair) AS pair FROM (
            SELECT text, unnest(CASE WHEN len(w) = 1 THEN w
                   ELSE list_transform(range(1, len(w)), lambda i: w[i] || ' ' || w[i + 1]) END) AS pair
            FROM (SELECT text, string_split(normal, ' ') AS w FROM texts WHERE normal != ''))""",
    )
    return m.shared("ranked_pairs", ranked("word_pairs", "text", "pair"))


def ranked(table: str, owner: str, feature: str) -> str:
    """SQL that adds the number of each owner's features and their rank, rarest first."""
    return f"""
        SELECT {owner}, {feature}, count(*) OVER (PARTITION BY {owner}) AS n,
               row_number() OVER (PARTITION BY {owner} ORDER BY frequency, {feature}) AS rank
        FROM {table} JOIN (SELECT {feature}, count(*) AS frequency FROM {table} GROUP BY {feature}) USING ({feature})
    """


def near_texts(m: Measures) -> str:
    """The table of pairs of texts (a, b), in both directions, that share NEAR of the smaller one's word pairs."""
    pairs = ranked_pairs(m)
    m.shared(
        "near_one_way",
        f"""SELECT a, b FROM (
            SELECT DISTINCT s.text AS a, l.text AS b, s.n FROM {pairs} s JOIN {pairs} l USING (pair)
            WHERE s.rank <= s.n - ceil({NEAR} * s.n) + 1 AND (l.n > s.n OR (l.n = s.n AND l.text > s.text)))
        JOIN word_pairs wa ON wa.text = a JOIN word_pairs wb ON wb.text = b AND wb.pair = wa.pair
        GROUP BY a, b, n HAVING count(*) >= {NEAR} * n""",
    )
    return m.shared("near_texts", "SELECT a, b FROM near_one_way UNION ALL SELECT b, a FROM near_one_way")
