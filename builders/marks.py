r"""What punctuation means in an answer: the sign of a number, its value, and the marks that belong to a name.

The rules, in this order, on text that is case folded with its ASCII punctuation (minus, hyphens and en dash as `-`,
small and raised signs as their own, the spaces that group digits as `'`, a code for each currency sign; any other
punctuation a space). W is a letter, mark or digit:

1. `%` and the words `per cent` are the word `percent`;
2. `*` on both sides of a text is emphasis and goes;
3. `+` after a word with a letter is its mark: two or more always (`c++` in `c++11`), one where no W follows (`ab+`);
4. `#` after a letter is its mark where no W follows (`c#`);
5. `*` after a word of one to three letters a-z is its mark (`a*`) where neither W nor `*` comes before or follows;
6. `.` before a letter is its mark (`.net`) where neither W nor `.` comes before;
7. `-` after a word of one or two letters a-z is its mark (`ab-`) where neither W nor `-` follows, and before the word
   comes none of W `.` `'` `-`;
8. `$` on both sides of a number is a formula's and goes; another currency sign before or after a number is a word
   after it (`$5 million` is `5 million dollars`);
9. `-` before a number, nothing between them, is its sign, unless before it comes W, one of `.` `)` `]` `}` `-` `+`,
   or a digit and spaces, as in a range of years;
10. `'` between digits is `,`;
11. a number is a run of W `.` `,`, without `.` `,` at its end, of this form: a sign or none; digits without a leading
    zero, perhaps in groups of three by `,`; a point and digits, or none. It is written without groups, without zeros at
    the end of its fraction, with a digit before its point, and zero without a sign. Other runs part at `.` and `,`.

`validation/normal.py` has the same rules in SQL.
"""

import re

MARKS = {1: ord("+"), 2: ord("#"), 3: ord("-"), 4: ord("."), 5: ord("*")}  # codes that stand for kept marks, meanwhile

_CURRENCIES = {
    "€": "euros", "£": "pounds", "¥": "yen", "₹": "rupees", "₩": "won", "₽": "rubles", "₺": "lira", "₪": "shekels",
    "₫": "dong", "฿": "baht", "₴": "hryvnias", "₦": "naira", "₱": "pesos", "¢": "cents", "₿": "bitcoins",
}  # fmt: skip
CURRENCY_CODES = {sign: chr(code) for code, sign in enumerate(_CURRENCIES, start=0x11)}  # meanwhile, as MARKS
OTHER_CURRENCY = "\x10"
_WORDS = {
    "$": "dollars",
    OTHER_CURRENCY: "currency",
    **{CURRENCY_CODES[sign]: _CURRENCIES[sign] for sign in _CURRENCIES},
}
CURRENCY_WORDS = {code.encode(): word.encode() for code, word in _WORDS.items()}
UNITS = frozenset(("percent", *_WORDS.values()))  # words for signs

_PER_CENT = re.compile(rb"(?<![0-9a-z\x80-\xff])per +cent(?![0-9a-z\x80-\xff])")
_EMPHASIS = re.compile(rb"\B\*([^* ](?:[^*]*[^* ])?)\*\B")
_FORMULA = re.compile(rb"\B\$(-?[0-9.,]+)\$\B")
_PLUS = re.compile(rb"([0-9a-z\x80-\xff]+)(\+\++|\+(?![0-9a-z\x80-\xff]))")
_LETTER = re.compile(rb"[a-z\x80-\xff]")
_SHARP = re.compile(rb"(?<=[a-z\x80-\xff])#(?![0-9a-z\x80-\xff])")
_STAR = re.compile(rb"(?<![0-9a-z\x80-\xff*])([a-z]{1,3})\*(?![0-9a-z\x80-\xff*])")
_DOT = re.compile(rb"\.(?<![0-9a-z\x80-\xff.]\.)(?=[a-z\x80-\xff])")
_MINUS = re.compile(rb"(?<![0-9a-z\x80-\xff.'-])([a-z]{1,2})-(?![0-9a-z\x80-\xff-])")
_CURRENCY = re.compile(rb"[$\x10-\x1f]")
_JOINED = re.compile(rb"([0-9a-z\x80-\xff.,'])([$\x10-\x1f])")
_BEFORE = re.compile(
    rb"([$\x10-\x1f]) *(-?\.?[0-9][0-9a-z\x80-\xff.,']*(?: +(?:thousand|million|billion|trillion)\b)?)"
)
_AFTER = re.compile(rb"([0-9]) *([$\x10-\x1f])\B")
_SIGN = re.compile(rb"(^ *|[^0-9a-z\x80-\xff .)\]}+-]|[^0-9 ] +)-(?=\.?[0-9])")
_GROUP = re.compile(rb"(?<=[0-9])'(?=[0-9])")
_MAY_BE_NUMBER = re.compile(rb"[0-9][.,][0-9]|\.[0-9]|\x030")
_NUMBER = re.compile(
    rb"(?<![0-9a-z\x80-\xff.,\x01-\x05])(\x03?)(?:(0|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]*)(?:\.([0-9]+))?|\.([0-9]+))"
    rb"(?=[.,]*(?:[^0-9a-z\x80-\xff.,]|$))"
)


def encoded(folded: bytes) -> bytes | None:
    """The text with its kept marks as the codes of MARKS and numbers rewritten; None where it has nothing to keep."""
    text = folded
    if b"%" in text:
        text = text.replace(b"%", b" percent ")
    if b" cent" in text:
        text = _PER_CENT.sub(b"percent", text)
    text = _names(text)
    if _CURRENCY.search(text):
        text = _amounts(text)
    if b"-" in text:
        text = _SIGN.sub(rb"\1 " + b"\x03", text)
    if b"'" in text:
        text = _GROUP.sub(b",", text)
    if _MAY_BE_NUMBER.search(text):
        text = _NUMBER.sub(_number, text)
    return None if text is folded else text


def _names(text: bytes) -> bytes:
    """Rules 2 to 7."""
    if b"*" in text:
        text = _EMPHASIS.sub(rb" \1 ", text)
    if b"+" in text:
        text = _PLUS.sub(_plus, text)
    if b"#" in text:
        text = _SHARP.sub(b"\x02", text)
    if b"*" in text:
        text = _STAR.sub(rb"\1" + b"\x05", text)
    if b"." in text:
        text = _DOT.sub(b" \x04", text)
    if b"-" in text:
        text = _MINUS.sub(rb"\1" + b"\x03", text)
    return text


def _plus(match: re.Match[bytes]) -> bytes:
    if not _LETTER.search(match[1]):
        return match[0]
    return match[1] + (b"\x01\x01 " if len(match[2]) > 1 else b"\x01")


def _amounts(text: bytes) -> bytes:
    """Rule 8."""
    text = _FORMULA.sub(rb" \1 ", text)
    text = _JOINED.sub(rb"\1 \2", text)
    text = _BEFORE.sub(lambda at: at[2] + b" " + CURRENCY_WORDS[at[1]], text)
    return _AFTER.sub(lambda at: at[1] + b" " + CURRENCY_WORDS[at[2]], text)


def _number(match: re.Match[bytes]) -> bytes:
    sign, whole = match[1], (match[2] or b"0").replace(b",", b"")
    fraction = (match[3] or match[4] or b"").rstrip(b"0")
    value = whole + (b"\x04" + fraction if fraction else b"")
    return value if value == b"0" else sign + value
