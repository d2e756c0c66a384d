"""The text format of Prometheus, read strictly; what its collector would take amiss is refused."""

from __future__ import annotations

import re

from harness import Failed, true

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ([^ ]+)")


def families(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Samples by family: each has one HELP, one TYPE and then its samples, together; none has a time."""
    true(text.endswith("# EOF\n") and text.count("# EOF") == 1, f"no end, but {text[-80:]!r}")
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    told: dict[str, set[str]] = {}
    at = ""
    for line in text.splitlines()[:-1]:
        if match := re.fullmatch(rf"# (HELP|TYPE|UNIT) ({NAME}) (.+)", line):
            word, name, value = match.groups()
            if name != at:
                true(name not in told, f"{name} comes in two parts")
                at = name
                told[name], found[name] = set(), []
            true(word not in told[name] and not found[name], f"{name}: {word} again, or after its samples")
            told[name].add(word)
            true(word != "TYPE" or value in ("gauge", "counter"), f"{name} is a {value}")
            true(word != "UNIT" or name.endswith(f"_{value}"), f"{name} is not in {value}")
            continue
        match = SAMPLE.fullmatch(line)
        if not match:
            raise Failed(f"not a sample: {line!r}")
        true(match[1] == at and {"HELP", "TYPE"} <= told[at], f"not under its own HELP and TYPE: {line!r}")
        labels = dict((name, value) for name, value in re.findall(LABEL, match[2] or ""))
        true(labels not in [other for other, _ in found[at]], f"twice: {line!r}")
        found[at].append((labels, float(match[match.lastindex])))
    true(found and all(found.values()), "a family without samples")
    return found
