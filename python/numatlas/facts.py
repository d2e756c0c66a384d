"""What a run says in sum: the facts that its benchmarks state (src/record/view.h), as frames, and its
headlines, as the program words them. Knows no benchmark but by the keys of facts."""

from dataclasses import asdict, dataclass, fields
from typing import Any

import pandas as pd

from numatlas.units import is_unknown, quantity_text, range_text

#: Unit of a number of hosts.
COUNT = "hosts"
QUANTITIES = {"s": "latency", "B/s": "bandwidth"}
LABELS = ("cpu_node", "memory_node", "gpu", "direction", "level", "size", "pages", "kind", "place")
FIELDS = ("key", "words", "unit", "text", "claim", "heading", "line", "where")
ENDS = ("value", "low", "high")


@dataclass(frozen=True)
class Metric:
    """The figure in front of a heading, in SI units, with the others in words (docs/results.md, `headlines`);
    absent ends: no interval is known."""

    key: str  #: "peak_bandwidth"
    words: str  #: the heading
    value: float
    low: float | None
    high: float | None
    unit: str  #: "s", "B/s"
    name: str  #: what it is in any run: "gpu copy rate, gpu 0"
    text: str  #: "122 ns"
    head: str  #: the heading without sizes and pages
    spread: str = ""  #: "±0.3 %", of few visits "±0.3 %*"
    brief: str = ""  #: one line beside the figure
    beside: str = ""  #: the other figures of the heading
    where: str = ""  #: of which places, and by what
    claim: str = ""  #: what is known of it beside these
    doubted: bool = False  #: of a run that calls itself unreliable, or hardly known


def facts(result: Any) -> pd.DataFrame:
    """A row for each fact of the result's benchmarks, with its command, its figure in words (`text`,
    `spread`), what else is known of it (`claim`), its estimate, its labels (`cpu_node`, `gpu`, ...; absent
    where it has none) and all of these in `where`."""
    rows = [
        {
            "command": part.command,
            **{name: fact.get(name, "") for name in FIELDS},
            "spread": fact.get("spread") or "",
            **{name: fact["where"].get(name) for name in LABELS},
            **{name: fact["estimate"].get(name) for name in ENDS},
        }
        for part in result.all()
        for fact in part.meta.get("facts") or []
    ]
    frame = pd.DataFrame(rows, columns=["command", *FIELDS, "spread", *LABELS, *ENDS], dtype=object)
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in (*ENDS, "size")})


def pairs(result: Any) -> pd.DataFrame:
    """The facts of pairs of nodes, which a survey shows as cells of a matrix, once each: `what` ("latency" of
    one CPU alone, "bandwidth" of a read by all CPUs of a node), cpu_node and memory_node as integers, value,
    low, high, words."""
    every = facts(result)
    nodes = every[["cpu_node", "memory_node"]].apply(pd.to_numeric, errors="coerce")
    cells = every["heading"].notna() & every["line"].isna() & nodes.notna().all(axis=1)
    found = every.assign(**nodes, what=every["unit"].map(QUANTITIES))[cells].dropna(subset=["what"])
    found = found.drop_duplicates(["what", "cpu_node", "memory_node"])
    return found.astype({"cpu_node": int, "memory_node": int})


def gpu_rates(result: Any) -> pd.DataFrame:
    """The best copies of each GPU and direction from or to the host."""
    every = facts(result)
    copies = every[(every["key"] == "gpu_copy_rate") & every["direction"].isin(["h2d", "d2h"])]
    best = copies.sort_values("value").groupby(["gpu", "direction"]).tail(1)
    return best.sort_values(["gpu", "direction"], ascending=[True, False])


def cache_levels(result: Any) -> pd.DataFrame:
    """Latencies of the caches and of memory, once each level and kind of core, the nearest first. `lowest`:
    of a cache without a plateau, whose value is the highest of its sizes."""
    every = facts(result)
    one = ["level", "kind"]
    found = every["key"].isin(["cache_latency", "cache_latency_highest", "memory_latency"])
    levels = every[found].drop_duplicates(one)
    lowest = every[every["key"] == "cache_latency_lowest"].drop_duplicates(one)
    levels = levels.merge(lowest[[*one, "value"]].rename(columns={"value": "lowest"}), "left", one)
    return levels.sort_values(["kind", "value"], na_position="first", ignore_index=True)


# ---- Headline figures


def summary(result: Any) -> pd.DataFrame:
    """The headline figures as a frame: a row each, in SI units; see Metric for the columns."""
    return pd.DataFrame([asdict(one) for one in metrics(result)])


def metrics(result: Any) -> list[Metric]:
    """One for each heading, in the order of the file."""
    if len(result.hosts):
        return _fleet(result)
    return [
        _metric({**one, **one["estimate"], "words": one["heading"]})
        for one in result.meta.get("headlines") or []
    ]


def headline_of(result: Any, key: str) -> Metric | None:
    """Of the facts of this key: the headline that they are in front of, or the first of them."""
    for one in metrics(result):
        if one.key == key:
            return one
    for part in result.all():
        for fact in part.meta.get("facts") or []:
            if fact["key"] == key:
                return _of_fact(fact, any(one.meta.get("trust") == "unreliable" for one in (result, part)))
    return None


def _of_fact(fact: dict[str, Any], unreliable: bool) -> Metric:
    ends = {name: fact["estimate"].get(name) for name in ENDS}
    heading = fact.get("heading") or ""
    told = {"words": heading, "head": heading, "where": fact["words"], "text": fact.get("text") or ""}
    told |= {"spread": fact.get("spread") or "", "name": fact["key"].replace("_", " ")}
    return _metric({**fact, **ends, **told, "doubted": unreliable or is_unknown(**ends)})


def _metric(told: dict[str, Any]) -> Metric:
    return Metric(**{field.name: told[field.name] for field in fields(Metric) if field.name in told})


def _fleet(result: Any) -> list[Metric]:
    """Hosts, and the median one of the kernel that was measured last: triad, mostly. Files of the earlier
    programs have hosts, too."""
    hosts = result.hosts
    kernel = hosts["kernel"].iloc[-1]
    values = pd.to_numeric(hosts["value"][hosts["kernel"] == kernel]).dropna()

    def metric(words: str, value: float, unit: str, text: str, beside: str) -> Metric:
        told = {"brief": beside, "beside": beside, "claim": text}
        return Metric(words.replace(" ", "_"), words, value, None, None, unit, words, text, words, **told)

    def count(words: str, number: int, beside: str) -> Metric:
        return metric(words, number, COUNT, f"{number:,}", beside)

    found = [count("hosts", hosts["host"].nunique(), f"{len(values):,} with values")]
    if len(values):
        low, middle, high = values.quantile([0.25, 0.5, 0.75])
        beside = f"half of the hosts: {range_text(low, high, 'B/s')}"
        found.append(metric(f"median host, {kernel}", middle, "B/s", quantity_text(middle, "B/s"), beside))
    if result.meta.get("judged"):
        slow = hosts["host"][hosts["slow"].astype(bool)].nunique()
        found.append(count("slow hosts", slow, "by the run's rule"))
    return found
