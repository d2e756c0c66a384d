"""Whether the figures of a run can be believed, in a few lines."""

from dataclasses import dataclass

import pandas as pd

from numatlas.figures.scales import UNSTEADY
from numatlas.figures.told import column
from numatlas.result import Result
from numatlas.units import half_width

#: What a code of a warning means, for one case and for several.
CODES = {
    "placement": ("case had memory elsewhere than asked", "cases had memory elsewhere than asked"),
    "pages-moved": ("case had pages moved while it ran", "cases had pages moved while they ran"),
    "two-speeds": ("figure has two speeds", "figures have two speeds"),
    "stopped": ("worker was stopped while measuring", "workers were stopped while measuring"),
    "other-processes": ("host was busy with other programs", "hosts were busy with other programs"),
    "low-overlap": ("worker measured partly alone", "workers measured partly alone"),
    "oversubscribed": ("run has more workers than CPUs", "runs have more workers than CPUs"),
}


@dataclass
class Line:
    """Of the verdict: `good`, or something to be wary of."""

    text: str
    good: bool = False


def verdict(result: Result) -> list[Line]:
    """Whether the figures can be believed: placement, steadiness, what disturbed, what is missing."""
    if result.meta.get("complete") is False:
        return [
            Line(f"not complete: {result.meta.get('incomplete_reason') or 'ended early'}"),
            *_rest(result),
        ]
    return _rest(result)


def _rest(result: Result) -> list[Line]:
    lines = [_placement(result), _steadiness(result), *_codes(result)]
    settings = [one.text.split(":")[0] for one in result.warnings if one.code == "setting"]
    if settings:
        lines.append(Line(f"may disturb: {', '.join(settings)}"))
    if len(result.skipped) and result.parts:
        names = list(dict.fromkeys(map(str, result.skipped["name"])))
        lines.append(Line(f"not measured: {', '.join(names)}"))
    return [line for line in lines if line]


def _flows(result: Result) -> pd.DataFrame:
    frames = [part.flows for part in result.all() if len(part.flows)]
    return pd.concat(frames) if frames else pd.DataFrame()


def _codes_of(result: Result) -> dict[str, int]:
    """How many cases and workers each code of a warning is of."""
    texts = (
        column(_flows(result).drop_duplicates(["name", "flow"]), "flow_warning_codes")
        if len(_flows(result))
        else pd.Series(dtype=object)
    )
    codes = [code for text in texts.dropna() for code in str(text).split("; ") if code]
    return pd.Series(codes, dtype=object).value_counts().to_dict()


def _placement(result: Result) -> Line | None:
    flows = _flows(result)
    if column(flows, "pages_observed").dropna().empty:
        return None
    astray = pd.to_numeric(column(flows, "pages_elsewhere")).fillna(0) > 0
    if "placement" in _codes_of(result) or astray.any():
        return None if "placement" in _codes_of(result) else Line("some pages were elsewhere than asked")
    return Line("memory lay where it was asked for", good=True)


def _steadiness(result: Result) -> Line | None:
    frames = [
        frame[["value", "low", "high"]]
        for part in result.all()
        for frame in (part.flows, part.totals)
        if len(frame)
    ]
    if not frames:
        return None
    rows = pd.concat(frames).dropna()
    widths = [half_width(*row) for row in rows.itertuples(index=False)]
    known = [width for width in widths if width is not None]
    wide = sum(width > UNSTEADY for width in known)
    if not known:
        return None
    if not wide:
        return Line(f"all {len(known)} figures are known to ±10 % or better", good=True)
    return Line(f"{wide} of {len(known)} figures unsteady (wider than ±10 %)")


def _codes(result: Result) -> list[Line]:
    counts = _codes_of(result)
    return [
        Line(f"{counts[code]} {words[counts[code] > 1]}") for code, words in CODES.items() if code in counts
    ]
