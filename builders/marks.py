r"""What punctuation means in an answer: the sign of a number, its value, and the marks that belong to a name.

The rules, in this order, on text that is case folded with its ASCII punctuation (minus and en dash as `-`, currency as
`$`, the spaces that group digits as `'`; any other punctuation a space). W is a letter, mark or digit:

1. `%` and the words `per cent` are the word `percent`;
2. `+` after a word with a letter is its mark: two or more always (`c++` in `c++11`), one where no W follows (`ab+`);
3. `#` after a letter is its mark where no W follows (`c#`);
4. `-` after a word of one or two letters a-z is its mark (`ab-`) where neither W nor `-` follows, and before the word
   comes none of W `.` `'` `-`;
5. `-` before a number, `$` or none between them, is its sign, unless before it comes W, one of `.` `)` `]` `}` `-` `+`,
   or a digit and spaces, as in a range of years;
6. `'` between digits is `,`;
7. a number is a run of W `.` `,`, without `.` `,` at its end, of this form: a sign or none; digits without a leading
   zero, perhaps in groups of three by `,`; a point and digits, or none. It is written without groups, without zeros at
   the end of its fraction, with a digit before its point, and zero without a sign. Other runs part at `.` and `,`.

`validation/normal.py` has the same rules in SQL.
"""

import re

MARKS = {1: ord("+"), 2: ord("#"), 3: ord("-"), 4: ord(".")}  # the codes that stand for kept marks, meanwhile

_PER_CENT = re.compile(rb"(?<![0-9a-z\x80-\xff])per +cent(?![0-9a-z\x80-\xff])")
_PLUS = re.compile(rb"([0-9a-z\x80-\xff]+)(\+\++|\+(?![0-9a-z\x80-\xff]))")
_LETTER = re.compile(rb"[a-z\x80-\xff]")
_SHARP = re.compile(rb"(?<=[a-z\x80-\xff])#(?![0-9a-z\x80-\xff])")
_MINUS = re.compile(rb"(?<![0-9a-z\x80-\xff.'-])([a-z]{1,2})-(?![0-9a-z\x80-\xff-])")
_SIGN = re.compile(rb"(^ *|[^0-9a-z\x80-\xff .)\]}+-]|[^0-9 ] +)-\$?(?=\.?[0-9])")
_GROUP = re.compile(rb"(?<=[0-9])'(?=[0-9])")
_MAY_BE_NUMBER = re.compile(rb"[0-9][.,][0-9]|\.[0-9]|\x030")
_NUMBER = re.compile(
    rb"(?<![0-9a-z\x80-\xff.,\x01-\x03])(\x03?)(?:(0|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]*)(?:\.([0-9]+))?|\.([0-9]+))"
    rb"(?=[.,]*(?:[^0-9a-z\x80-\xff.,]|$))"
)


def encoded(folded: bytes) -> bytes | None:
    """The text with its kept marks as the codes of MARKS and numbers rewritten; None where it has nothing to keep."""
    text = folded
    if b"%" in text:
        text = text.replace(b"%", b" percent ")
    if b" cent" in text:
        text = _PER_CENT.sub(b"percent", text)
    if b"+" in text:
        text = _PLUS.sub(_plus, text)
    if b"#" in text:
        text = _SHARP.sub(b"\x02", text)
    if b"-" in text:
        text = _SIGN.sub(rb"\1 " + b"\x03", _MINUS.sub(rb"\1" + b"\x03", text))
    if b"'" in text:
        text = _GROUP.sub(b",", text)
    if _MAY_BE_NUMBER.search(text):
        text = _NUMBER.sub(_number, text)
    return None if text is folded else text


def _plus(match: re.Match[bytes]) -> bytes:
    if not _LETTER.search(match[1]):
        return match[0]
    return match[1] + (b"\x01\x01 " if len(match[2]) > 1 else b"\x01")


def _number(match: re.Match[bytes]) -> bytes:
    sign, whole = match[1], (match[2] or b"0").replace(b",", b"")
    fraction = (match[3] or match[4] or b"").rstrip(b"0")
    value = whole + (b"\x04" + fraction if fraction else b"")
    return value if value == b"0" else sign + value
