"""Which content words two English texts share, whatever their inflection: by lemma, and by stem."""

import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

from builders.retrieve.words import STOP_WORDS
from builders.text import fold

LEAST = 4  # shortest stem that, as a prefix of another, makes both one family: teach, teacher

# Lemmas, each with its forms that a stemmer misses.
_IRREGULAR = """
arise: arose arisen; awake: awoke awoken; bear: bore borne born; beat: beaten; become: became; begin: began begun;
bend: bent; bind: bound; bite: bit bitten; bleed: bled; blow: blew blown; break: broke broken; breed: bred;
bring: brought; build: built; burn: burnt; buy: bought; catch: caught; choose: chose chosen; cling: clung;
come: came; creep: crept; deal: dealt; dig: dug; draw: drew drawn; dream: dreamt; drink: drank drunk;
drive: drove driven; dwell: dwelt; eat: ate eaten; fall: fell fallen; feed: fed; feel: felt; fight: fought;
find: found; flee: fled; fling: flung; fly: flew flown flies; forbid: forbade forbidden; forget: forgot forgotten;
forgive: forgave forgiven; freeze: froze frozen; get: got gotten; give: gave given; go: went gone goes; grind: ground;
grow: grew grown; hang: hung; hear: heard; hide: hid hidden; hold: held; keep: kept; kneel: knelt; know: knew known;
lay: laid; lead: led; lean: leant; leap: leapt; learn: learnt; leave: left; lend: lent; lie: lay lain lied lies lying;
light: lit; lose: lost; make: made; mean: meant; meet: met; mistake: mistook mistaken; mow: mown;
overcome: overcame; pay: paid; plead: pled; prove: proven; ride: rode ridden; ring: rang rung; rise: rose risen;
run: ran; saw: sawn; say: said; see: saw seen; seek: sought; sell: sold; send: sent; sew: sewn; shake: shook shaken;
shave: shaven; shear: shorn; shed: shed; shine: shone; shoot: shot; show: shown; shrink: shrank shrunk shrunken;
sing: sang sung; sink: sank sunk; sit: sat; sleep: slept; slide: slid; smell: smelt; sow: sown; speak: spoke spoken;
speed: sped; spell: spelt; spend: spent; spill: spilt; spin: spun; spit: spat; spoil: spoilt; spring: sprang sprung;
stand: stood; steal: stole stolen; stick: stuck; sting: stung; strike: struck stricken; strive: strove striven;
swear: swore sworn; sweep: swept; swell: swollen; swim: swam swum; swing: swung; take: took taken; teach: taught;
tear: tore torn; tell: told; think: thought; throw: threw thrown; understand: understood; undertake: undertook;
wake: woke woken; wear: wore worn; weave: wove woven; weep: wept; win: won; wind: wound; withdraw: withdrew withdrawn;
write: wrote written; die: dying; tie: tying;
child: children; foot: feet; goose: geese; louse: lice; man: men; mouse: mice; ox: oxen; person: people; tooth: teeth;
woman: women; calf: calves; elf: elves; half: halves; hoof: hooves; knife: knives; leaf: leaves; life: lives;
loaf: loaves; scarf: scarves; self: selves; sheaf: sheaves; shelf: shelves; thief: thieves; wife: wives; wolf: wolves;
analysis: analyses; axis: axes; basis: bases; bacterium: bacteria; cactus: cacti; crisis: crises; criterion: criteria;
datum: data; lens: lenses; diagnosis: diagnoses; fungus: fungi; hypothesis: hypotheses; index: indices; larva: larvae;
medium: media; nucleus: nuclei; oasis: oases; phenomenon: phenomena; radius: radii; stimulus: stimuli; vertex: vertices;
good: better best well; bad: worse worst; far: further furthest farther farthest; little: less least;
old: older oldest elder eldest;
much: most; big: bigger biggest; large: larger largest; high: higher highest; long: longer longest; late: later latest;
early: earlier earliest; near: nearer nearest; young: younger youngest; new: newer newest;
red: redder reddest; hot: hotter hottest; sad: sadder saddest; wet: wetter wettest; dry: drier driest;
high: height; long: length; wide: width;
strong: strength; deep: depth; warm: warmth; true: truth; hot: heat; poor: poverty; proud: pride; sell: sale;
speak: speech; choose: choice; fly: flight; grow: growth; die: death dead; bear: birth; live: life alive lives;
believe: belief; think: thought; see: sight; lose: loss; give: gift; sing: song; advise: advice; prove: proof;
"""


def content_words(text: str) -> frozenset[str]:
    """The stems of a text's words and of their lemmas, without stop words and accents."""
    return frozenset(key for word in _words(text) for key in _keys(word))


def shared_words(one: str, other: str) -> list[tuple[str, str]]:
    """The pairs of content words, one from each text, that share a stem or lemma or belong to one family."""
    return [(a, b) for a in _words(one) for b in _words(other) if _related(a, b)]


def _related(one: str, other: str) -> bool:
    if one == other:
        return True
    return any(
        a == b or (min(len(a), len(b)) >= LEAST and (a.startswith(b) or b.startswith(a)))
        for a in _keys(one)
        for b in _keys(other)
    )


def _words(text: str) -> list[str]:
    """The distinct content words of a text in order."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return list(dict.fromkeys(word for word in fold(plain).split() if word not in STOP_WORDS))


@lru_cache(200_000)
def _keys(word: str) -> frozenset[str]:
    stem = _stemmer()
    return frozenset(stem(form) for form in (word, *_lemmas().get(word, ())))


@cache
def _stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer(PorterStemmer.MARTIN_EXTENSIONS).stem


@cache
def _lemmas() -> dict[str, list[str]]:
    """The lemmas of irregular forms."""
    lemmas: dict[str, list[str]] = {}
    for entry in filter(str.strip, _IRREGULAR.split(";")):
        lemma, _, forms = entry.partition(":")
        for form in forms.split():
            lemmas.setdefault(form, []).append(lemma.strip())
    return lemmas
