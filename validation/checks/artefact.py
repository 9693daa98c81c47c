"""Surface features do not reveal gold."""

import numpy as np

from validation.checks.base import Check
from validation.measures import Measures

MOST = 0.65  # largest AUC of a probe on features that the mix controls
ROWS, OTHERS = 400, 6  # instances of a split, and non-gold passages of each, for the probe
LEAST = 50  # instances needed for a meaningful probe
TENTHS = 10

_FEATURES = {
    "marker": [
        r"regexp_matches(body, 'BULLET::::|Section::::')",
        r"regexp_matches(body, '[\x{200B}-\x{200F}\x{2060}\x{FEFF}]')",
        r"regexp_matches(body, '  |\t')",
        r"regexp_matches(body, '^\s|\s$')",
        "regexp_matches(title, '^\\s|\\s$')",
        r"NOT regexp_matches(body, '[.!?][\"'')\]]*$')",
    ],
    "length": ["ln(1 + length(body))", "ln(1 + length(title))"],
    "style": [
        r"length(regexp_replace(body, '[^[:punct:]]', '', 'g')) / (1 + length(body))",
        "length(regexp_replace(body, '[^A-Z]', '', 'g')) / (1 + length(body))",
        "length(regexp_replace(body, '[^0-9]', '', 'g')) / (1 + length(body))",
        r"regexp_matches(title, '\(')",
        "contains(body, title)",
    ],
}
CONTROLLED = ("position", "marker")


def _find(m: Measures) -> str:
    reached: dict[str, float] = {}
    found = []
    for config, split, states_depths in m.sql(f"""
        SELECT config, split, count(depth) > 0
        FROM instances GROUP BY ALL HAVING count(DISTINCT id) >= {LEAST} ORDER BY ALL"""):
        seen = _seen(m, config, split)
        for name in ("position", *_FEATURES):
            auc = _auc(seen[name], seen["is_gold"], seen["instance"])
            reached[name] = max(reached.get(name, 0.0), round(auc, 3))
            if name == "position" and states_depths:
                continue  # these rows set the depth of gold; gold_position checks the frequencies
            if name in CONTROLLED and auc > MOST:
                found.append((config, split, None, None, f"{name} reveals gold: AUC {auc:.2f}"))
    m.figures["artefact"] = {f"greatest AUC of {name}": auc for name, auc in reached.items()}
    return m.found("artefact", found)


def _surface(m: Measures) -> str:
    """The table of every text's features."""
    columns = [f"({sql})::DOUBLE AS {name}_{n}" for name, all in _FEATURES.items() for n, sql in enumerate(all)]
    return m.shared("surface", f"SELECT text, {', '.join(columns)} FROM texts")


def _seen(m: Measures, config: str, split: str) -> dict[str, np.ndarray]:
    """Features of a split's gold and of some other passages of the same instances, by their group."""
    chance = 'hash("row" || \' \' || "position")'  # different in each row of a shared context
    rows = m.sql(
        f"""SELECT is_gold, "row", "position" / greatest(n_passages, 1), s.* EXCLUDE (text)
        FROM (SELECT * FROM placements JOIN (
                SELECT "row", n_passages FROM instances WHERE config = ? AND split = ?
                ORDER BY hash(id), "row" LIMIT {ROWS}) USING ("row")
              QUALIFY is_gold
                   OR row_number() OVER (PARTITION BY "row", is_gold ORDER BY {chance}) <= {OTHERS})
        JOIN {_surface(m)} s USING (text) ORDER BY "row", "position" """,
        [config, split],
    )
    values = np.array(rows, dtype=float)
    tenths = np.minimum((values[:, 2] * TENTHS).astype(int), TENTHS - 1)
    seen = {"is_gold": values[:, 0], "instance": values[:, 1], "position": np.eye(TENTHS)[tenths]}
    at = 3
    for name, features in _FEATURES.items():
        seen[name] = values[:, at : at + len(features)]
        at += len(features)
    return seen


def _auc(features: np.ndarray, is_gold: np.ndarray, instance: np.ndarray) -> float:
    """Area under the ROC curve of a logistic regression, cross-validated by instance."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    features = features[:, np.ptp(features, axis=0) > 0]
    if features.shape[1] == 0 or len(set(is_gold)) < 2:
        return 0.5
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    folds = GroupKFold(5)
    with threadpool_limits(1):  # the matrices are small; threads would only slow it down
        scores = cross_val_predict(model, features, is_gold, groups=instance, cv=folds, method="decision_function")
    return float(roc_auc_score(is_gold, scores))


CHECK = Check(
    name="artefact",
    says="a logistic regression on position or on formatting does not separate gold from other passages (AUC 0.65)",
    why="a model could find gold without reading; AUCs of length and style, set by the source, are only reported",
    severity="error",
    unit="split",
    find=_find,
)
