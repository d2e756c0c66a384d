"""What figures say beside their numbers: warnings, how well they are known, what was not measured."""

import re
from collections import Counter
from typing import Any

import pandas as pd

from numatlas.result import Result, Warning

NOTHING = Warning("no measurement: numbers of the null engine, which touches no memory", "null engine")
#: Codes of what a picture never leaves out.
GRAVE = ("null engine", "unreliable")
MOST_REASONS = 5


def column(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column, or as many absent values where the file has none of that name."""
    return frame[name] if name in frame else pd.Series([None] * len(frame), index=frame.index, dtype=object)


def key_of(words: list[str]) -> str:
    """Words as a key of a figure: letters, digits and dashes."""
    return re.sub(r"[^0-9A-Za-z]+", "-", "-".join(words)).strip("-")


def is_of_the_null_engine(result: Result) -> bool:
    """Whether its numbers were made up by an engine that touches no memory."""
    return any(str(part.meta.get("engine", "")).startswith("null") for part in [result, *result.parts])


def model_words(machine: dict[str, Any], gpus: bool = False) -> str:
    """ "2x AMD EPYC 7763 and NVIDIA H100"; "The machine" where nothing is told."""
    model = re.sub(r"\((?:R|TM)\)|\bCPU\b(?! version)|@.*", "", machine.get("cpu_model") or "").split()
    found = [(" ".join(model), len({cpu.get("package") for cpu in machine.get("cpus", [])}))]
    names = Counter(gpu.get("name") or gpu.get("vendor") or "GPU" for gpu in machine.get("gpus", []))
    found += names.items() if gpus else []
    words = [f"{count}x {name}" if count > 1 else name for name, count in found if name]
    return " and ".join(words) or "The machine"


def warnings_of(result: Result, flows: pd.DataFrame) -> list[Warning]:
    """Those of the run, and those of the flows shown, each once."""
    grave = [NOTHING] if is_of_the_null_engine(result) else []
    if result.meta.get("trust") == "unreliable":
        grave.append(Warning(f"UNRELIABLE: {result.meta.get('doubt') or 'the run was disturbed'}", GRAVE[1]))
    places = zip(column(flows, "point"), column(flows, "flow"), strict=True) if result.of_flows else []
    own = [one for place in dict.fromkeys(places) for one in result.of_flows.get(place, [])]
    return list(dict.fromkeys([*grave, *result.warnings, *own]))


def skips_of(result: Result) -> list[str]:
    """What was not measured, or not to its end, by reason."""
    if result.skipped.empty:
        return []
    by_reason = result.skipped.groupby(["status", "reason"], sort=False, dropna=False)["name"]
    return [
        f"{'not measured' if status == 'skipped' else status}: {row['first']}"
        + (f" and {row['size'] - 1} more" if row["size"] > 1 else "")
        + f": {reason}"
        for (status, reason), row in by_reason.agg(["first", "size"]).head(MOST_REASONS).iterrows()
    ]
