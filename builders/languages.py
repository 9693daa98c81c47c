"""Languages whose answers the published scores cannot read, so that the strict ones are the headline.

SQuAD's form parts words at spaces and knows ASCII punctuation; ROUGE-L, as published, keeps a-z and 0-9 only.
"""

from builders.tasks import KindName

# ISO 639 codes of languages written without spaces between words, and of other languages with letters outside a-z
_UNSPACED = frozenset("bo dz ja khb km lo lzh my nan shn th wuu yue zh".split())
_OTHER_LETTERS = frozenset(
    "ab am ar arz as av ba be bg bn bpy ce chr ckb cv dv el fa gu he hi hy iw ka kk km kn ko ky mai mk ml mn mr ne or "
    "os pa pnb ps ru rue sa sah sd si sr ta te tg ti tt udm ug uk ur yi".split()
)
_UNSPACED_SCRIPTS = frozenset("hani hans hant jpan hira kana thai laoo khmr mymr tibt".split())


def needs_strict(language: str, kind: KindName) -> bool:
    """Whether the official score of a kind of task cannot work in a language, such as `en`, `zh-Hans` or `sr-Latn`."""
    code, *others = language.lower().replace("_", "-").split("-")
    script = next((part for part in others if len(part) == 4 and part.isalpha()), "")
    unspaced = script in _UNSPACED_SCRIPTS if script else code in _UNSPACED
    if kind == "fact":
        return False  # labels are not in the language
    if kind == "dialogue":
        return unspaced or (script != "latn" if script else code in _OTHER_LETTERS)
    return unspaced
