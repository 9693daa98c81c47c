"""The answer normaliser in SQL, after the definition at the top of builders/text.py.

Unicode's tables are DuckDB's here and Python's there, except for full case folding, which DuckDB lacks; they agree on
every character that both know. The rules for marks are those of builders/marks.py, which DuckDB must do without
look-around.
"""

import sys
import unicodedata
from functools import cache

_WIDE = "".join(map(chr, range(0xFF01, 0xFF5F)))
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_PUNCTUATION = "".join(char for char in _ASCII if not char.isalnum())
_NO_WORD = r"[^!-~\p{L}\p{M}\p{N}\p{Sc}]"  # beyond ASCII; its punctuation is still needed
_UNSPACED = r"([\x{3040}-\x{30FF}\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}\x{20000}-\x{3134F}])"
_AS_ASCII = {"−": "-", "–": "-", "♯": "#", "∗": "*", "٪": "%", "٫": ".", "٬": ","}
_AS_ASCII |= dict.fromkeys("’\u00a0\u2009\u202f", "'")
_AS_ASCII |= dict.fromkeys("\u2010\u2011\ufe63\u207b\u208b", "-")  # hyphens, small, superscript and subscript signs
_AS_ASCII |= {"﹢": "+", "⁺": "+", "₊": "+", "﹪": "%", "﹟": "#", "﹩": "$"}

_SIGNS = "€£¥₹₩₽₺₪₫฿₴₦₱¢₿"
_SIGN_WORDS = "euros pounds yen rupees won rubles lira shekels dong baht hryvnias naira pesos cents bitcoins".split()
_CODES = "".join(map(chr, range(0x11, 0x11 + len(_SIGNS))))  # of currency signs in folded text
_OTHER = "\x10"
_CURRENCIES = {"$": "dollars", _OTHER: "currency", **dict(zip(_CODES, _SIGN_WORDS, strict=True))}

_W = r"0-9a-z\x{80}-\x{10FFFF}"  # a letter, mark or number in folded text, where nothing else beyond ASCII is left
_PLUS, _SHARP, _MINUS, _POINT, _STAR, _AMOUNT = "\x01\x02\x03\x04\x05\x06"
_SIGN = f"[${_OTHER}{_CODES}]"
_SITE = (
    rf"[+#%*]|[0-9][.,''][0-9]|[.][0-9]|-[.]?[0-9]|(^|[^{_W}])([a-z]{{1,2}}-|per +cent)([^{_W}]|$)"
    rf"|(^|[^{_W}.])[.][a-z\x{{80}}-\x{{10FFFF}}]|{_SIGN} *-?[.]?[0-9]|[0-9] *{_SIGN}"
)
_NUMBER = rf"{_MINUS}?((0|[1-9][0-9]{{0,2}}(,[0-9]{{3}})+|[1-9][0-9]*)([.][0-9]+)?|[.][0-9]+)[.,]*"


def folded_sql(text: str) -> str:
    """SQL of a text composed, case folded, with ASCII punctuation and what is read as it still there."""
    narrow = f"translate(nfc_normalize({_with_ascii_digits(text)}), {_quoted(_WIDE)}, {_quoted(_ASCII)})"
    signs = f"translate({_case_folded(narrow)}, {_quoted(''.join(_AS_ASCII))}, {_quoted(''.join(_AS_ASCII.values()))})"
    words = f"regexp_replace(regexp_replace({signs}, '{_NO_WORD}', ' ', 'g'), '{_UNSPACED}', ' \\1 ', 'g')"
    any_script = rf"regexp_replace(translate({words}, '{_SIGNS}', '{_CODES}'), '[^\P{{Sc}}$]', '{_OTHER}', 'g')"
    ascii_alone = f"regexp_replace(lower({text}), '[^!-~]', ' ', 'g')"
    return f"CASE WHEN strlen({text}) = length({text}) THEN {ascii_alone} ELSE {any_script} END"


def words_sql(folded: str) -> str:
    """SQL of the words of a text that `folded_sql` gives, articles among them, single spaces between them."""
    gone = _PUNCTUATION + _OTHER + _CODES
    return _single_spaced(f"translate({folded}, {_quoted(gone)}, '{' ' * len(gone)}')")


def marked_words_sql(folded: str, words: str) -> str:
    """SQL of the words with their marks; `words` are those without, which it is where there is none."""
    return f"CASE WHEN regexp_matches({folded}, '{_SITE}') THEN {_with_marks(folded)} ELSE {words} END"


def normal_sql(words: str) -> str:
    """SQL of the normal form of words as `words_sql` and `marked_words_sql` give them (steps 3 and 4)."""
    apart = f"'  ' || replace({words}, ' ', '  ') || '  '"  # a space of its own on both sides of each word
    for article in ("a", "an", "the"):
        apart = f"replace({apart}, ' {article} ', ' ')"
    rest = _single_spaced(apart)
    return f"CASE WHEN {rest} = '' THEN {words} ELSE {rest} END"


def gives_away_sql(answer: str, words: str, normal: str, marked: str) -> str:
    """SQL of whether a text gives an answer away, as `builders.text.gives_away` says.

    `answer` is the alias of a row of `answers`; the others are columns of the text, `marked` null where it is `normal`.
    """
    both = f"coalesce({marked}, {normal})"
    return f"""CASE WHEN {answer}.article THEN {_within(f"{answer}.marked", words)}
        WHEN {_within(f"{answer}.marked", both)} THEN true
        WHEN {answer}.has_mark OR ({marked} IS NULL AND {answer}.marked = {answer}.normal) THEN false
        ELSE {_within(f"{answer}.normal", normal)} END"""


def has_mark_sql(marked: str) -> str:
    """SQL of whether a text in marked form has a sign or a mark, as `builders.text.has_mark` says."""
    return f"regexp_matches({marked}, '[+#*-]|(^| )[.]')"


def _within(needle: str, text: str) -> str:
    return f"contains(' ' || {text} || ' ', ' ' || {needle} || ' ')"


def plain_sql(normal: str) -> str:
    """SQL of a normal form without accents: what a reader takes for the same word."""
    return f"strip_accents({normal})"


def _case_folded(text: str) -> str:
    """SQL of full case folding, by way of the lower case; İ has one of its own in Unicode and DuckDB another."""
    single, several = _foldings()
    lower = f"lower(replace({text}, 'İ', 'i\u0307'))"
    folded = f"translate({lower}, {_quoted(''.join(single))}, {_quoted(''.join(single.values()))})"
    for char, letters in several.items():
        folded = f"replace({folded}, '{char}', '{letters}')"
    some = f"regexp_matches({lower}, '[{''.join([*single, *several])}]')"  # rare, and what follows is slow
    return f"CASE WHEN {some} THEN nfc_normalize({folded}) ELSE nfc_normalize({lower}) END"


@cache
def _foldings() -> tuple[dict[str, str], dict[str, str]]:
    """Lower-case characters whose case folding is another character, and those for which it is several."""
    found = {}
    for char in map(chr, range(sys.maxunicode + 1)):
        lower, folded = char.lower(), char.casefold()
        if len(lower) == 1 and lower != unicodedata.normalize("NFC", folded):
            found[lower] = folded
    return ({a: b for a, b in found.items() if len(b) == 1}, {a: b for a, b in found.items() if len(b) > 1})


def _with_ascii_digits(text: str) -> str:
    digits, in_ascii = _digits()
    some = rf"regexp_matches({text}, '[^\P{{Nd}}0-9]')"  # rare, and what follows is slow
    return f"CASE WHEN {some} THEN translate({text}, '{digits}', '{in_ascii}') ELSE {text} END"


@cache
def _digits() -> tuple[str, str]:
    """The digits beyond ASCII, and each in ASCII."""
    digits = [char for char in map(chr, range(0x80, sys.maxunicode + 1)) if unicodedata.category(char) == "Nd"]
    return "".join(digits), "".join(str(unicodedata.digit(char)) for char in digits)


def _with_marks(text: str) -> str:
    steps = [
        ("%", " percent "),
        (rf"(^|[^{_W}])per +cent($|[^{_W}])", r"\1percent\2"),
        (r"\B[*]([^* ]([^*]*[^* ])?)[*]\B", r" \1 "),
        (rf"([{_W}]*[a-z\x{{80}}-\x{{10FFFF}}][{_W}]*)[+][+]+", rf"\1{_PLUS}{_PLUS} "),
        (rf"([{_W}]*[a-z\x{{80}}-\x{{10FFFF}}][{_W}]*)[+]($|[^{_W}+])", rf"\1{_PLUS}\2"),
        (rf"([a-z\x{{80}}-\x{{10FFFF}}])#($|[^{_W}])", rf"\1{_SHARP}\2"),
        *[(rf"(^|[^{_W}*])([a-z]{{1,3}})[*]($|[^{_W}*])", rf"\1\2{_STAR}\3")] * 2,  # they may share a border
        (rf"(^|[^{_W}.])[.]([a-z\x{{80}}-\x{{10FFFF}}])", rf"\1 {_POINT}\2"),
        *[(rf"(^|[^{_W}.''-])([a-z]{{1,2}})-($|[^{_W}-])", rf"\1\2{_MINUS}\3")] * 2,
    ]
    numbers = [
        (rf"(^ *|[^{_W} .)\]}}+-]|[^0-9 ] +)-([.]?[0-9])", rf"\1 {_MINUS}\2"),
        *[("([0-9])''([0-9])", r"\1,\2")] * 2,
        (rf"[^{_W}.,{_PLUS}-{_STAR}]", " "),
    ]
    text = _replaced(_with_amounts(_replaced(text, steps)), numbers)
    runs = f"list_transform(string_split({text}, ' '), lambda run: {_run('run')})"
    marks = f"translate(array_to_string({runs}, ' '), '{_PLUS}{_SHARP}{_MINUS}{_POINT}{_STAR}.,', '+#-.*  ')"
    return _single_spaced(marks)


def _with_amounts(text: str) -> str:
    """SQL of a text with the sign of each amount as a word after it."""
    number = rf"-?[.]?[0-9][{_W}.,'']*( +(thousand|million|billion|trillion)\b)?"
    steps = [
        (r"\B[$](-?[0-9.,]+)[$]\B", r" \1 "),
        (rf"([{_W}.,''])({_SIGN})", r"\1 \2"),
        (rf"({_SIGN}) *({number})", rf"\2{_AMOUNT}\1"),
        (rf"([0-9]) *({_SIGN})\B", rf"\1{_AMOUNT}\2"),
    ]
    text = _replaced(text, steps)
    for sign, word in _CURRENCIES.items():
        text = f"replace({text}, '{_AMOUNT}{sign}', ' {word}')"
    return text


def _replaced(text: str, steps: list[tuple[str, str]]) -> str:
    for pattern, by in steps:
        text = f"regexp_replace({text}, '{pattern}', '{by}', 'g')"
    return text


def _run(run: str) -> str:
    """SQL of a run of letters, digits, points and commas: the number that it is, or its parts."""
    body = f"rtrim(replace(ltrim({run}, '{_MINUS}'), ',', ''), '.')"
    whole = f"CASE WHEN starts_with({body}, '.') THEN '0' ELSE split_part({body}, '.', 1) END"
    fraction = f"rtrim(split_part({body}, '.', 2), '0')"
    value = f"{whole} || CASE WHEN {fraction} = '' THEN '' ELSE '{_POINT}' || {fraction} END"
    sign = f"CASE WHEN starts_with({run}, '{_MINUS}') AND ({value}) != '0' THEN '{_MINUS}' ELSE '' END"
    number = f"{sign} || {value}"
    return f"CASE WHEN regexp_full_match({run}, '{_NUMBER}') THEN {number} ELSE translate({run}, '.,', '  ') END"


def _single_spaced(text: str) -> str:
    return f"trim(regexp_replace({text}, ' +', ' ', 'g'))"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
