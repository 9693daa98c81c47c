"""The answer normaliser in SQL, after the definition at the top of builders/text.py.

Unicode tables are DuckDB's here and Python's there, so the two are independent; they agree on every character that
both define.
"""

_WIDE = "".join(map(chr, range(0xFF01, 0xFF5F)))
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_NO_WORD = r"[^\p{L}\p{M}\p{N}]"
_UNSPACED = r"([\x{3040}-\x{30FF}\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}\x{20000}-\x{3134F}])"


def words_sql(text: str) -> str:
    """SQL of a text's words (steps 1 and 2), articles among them, with one space between and none around."""
    narrow = f"translate(nfc_normalize({text}), {_quoted(_WIDE)}, {_quoted(_ASCII)})"
    # İ is the only capital whose lower case has two characters; DuckDB maps it to one
    lower = f"array_to_string(list_transform(string_split({narrow}, 'İ'), lambda part: lower(part)), 'İ')"
    spaced = f"regexp_replace({lower}, '{_NO_WORD}', ' ', 'g')"
    return f"trim(regexp_replace(regexp_replace({spaced}, '{_UNSPACED}', ' \\1 ', 'g'), ' +', ' ', 'g'))"


def normal_sql(words: str) -> str:
    """SQL of the normal form of words as `words_sql` gives them (steps 3 and 4)."""
    apart = f"'  ' || replace({words}, ' ', '  ') || '  '"  # separate spaces on both sides of each word
    for article in ("a", "an", "the"):
        apart = f"replace({apart}, ' {article} ', ' ')"
    rest = f"trim(regexp_replace({apart}, ' +', ' ', 'g'))"
    return f"CASE WHEN {rest} = '' THEN {words} ELSE {rest} END"


def plain_sql(normal: str) -> str:
    """SQL of a normal form without accents and with ß as ss and ς as σ: what readers regard as the same word."""
    return f"replace(replace(strip_accents({normal}), 'ß', 'ss'), 'ς', 'σ')"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
