"""Licences by the Hub's identifiers."""

import re
from collections.abc import Iterable
from typing import Any

# Identifiers of the Hub's list (hf.co/docs/hub/repositories-licenses) that apply to texts and annotations. The Hub
# refuses a card with any other identifier, so any other licence is given as `other` with its name.
HUB_LICENCES = frozenset(
    """
    cc cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0
    cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0
    apache-2.0 mit c-uda cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 etalab-2.0 gfdl odc-by odbl pddl
    unlicense unknown other
    """.split()
)
_CREATIVE_COMMONS = re.compile(r"cc-(by(?:-nc)?(?:-nd|-sa)?)-(\d\.\d)")


def hub_licence(licences: Iterable[str | None]) -> dict[str, Any]:
    """The Hub's licence fields for sources under these licences, None where a source states none.

    One licence is a string and several are a list, as on the Hub; `license_name` names a licence outside its list.
    """
    stated = {(licence or "unknown").strip().lower() for licence in licences} or {"unknown"}
    foreign = sorted(stated - HUB_LICENCES)
    known = sorted((stated & HUB_LICENCES) | ({"other"} if foreign else set()))
    named = {"license_name": re.sub(r"[^a-z0-9.]+", "-", "-and-".join(foreign)).strip("-")} if foreign else {}
    return {"license": known[0] if len(known) == 1 else known, **named}


def licence_url(licence: str) -> str:
    """The URL of a Creative Commons licence's deed; any other licence as it is."""
    if licence.lower() == "cc0-1.0":
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    match = _CREATIVE_COMMONS.fullmatch(licence.strip().lower())
    return f"https://creativecommons.org/licenses/{match[1]}/{match[2]}/" if match else licence
