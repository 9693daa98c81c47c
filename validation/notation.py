"""Other notations of an answer: dates in another order, numbers with and without separators."""

import re

_MONTHS = "january february march april may june july august september october november december".split()
_NUMBER = {name: number for number, name in enumerate(_MONTHS, start=1)}
_MONTH = "|".join(_MONTHS)
_DATES = (
    re.compile(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_MONTH}) (?P<year>\d{{3,4}})"),
    re.compile(rf"(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<year>\d{{3,4}})"),
    re.compile(r"(?P<year>\d{4}) (?P<month>\d{1,2}) (?P<day>\d{1,2})"),
)
_GROUPED = re.compile(r"\d{1,3}(?: \d{3})+")
_LONG = re.compile(r"\b(?:\d{5,}|[3-9]\d{3})\b")  # four digits that start with 1 or 2 are a year, without separator


def other_notations(plain: str) -> set[str]:
    """Other notations of an answer in plain normal form (lower case, no punctuation, no accents), without itself.

    Dates: day month year, month day year, year month day in numbers. Numbers: digits with groups of three or without.
    """
    return (_dates(plain) | _numbers(plain)) - {plain}


def _dates(plain: str) -> set[str]:
    for pattern in _DATES:
        if match := pattern.fullmatch(plain):
            day, year = int(match["day"]), match["year"]
            month = _NUMBER.get(match["month"]) or int(match["month"])
            if 1 <= month <= 12 and 1 <= day <= 31:
                name = _MONTHS[month - 1]
                return {
                    f"{day} {name} {year}",
                    f"{day} of {name} {year}",
                    f"{name} {day} {year}",
                    f"{name} {_ordinal(day)} {year}",
                    f"{_ordinal(day)} {name} {year}",
                    f"{_ordinal(day)} of {name} {year}",
                    f"{year} {month:02d} {day:02d}",
                    f"{day:02d} {month:02d} {year}",
                }
    return set()


def _ordinal(day: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th") if day not in (11, 12, 13) else "th"
    return f"{day}{ending}"


def _numbers(plain: str) -> set[str]:
    joined = _GROUPED.sub(lambda match: match[0].replace(" ", ""), plain)
    grouped = _LONG.sub(lambda match: f"{int(match[0]):,}".replace(",", " "), plain)
    return {joined, grouped}
