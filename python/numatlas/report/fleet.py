"""Many hosts: in sum first (no script needed), then a strip of all hosts and a table of them by fleet.js."""

from typing import Any

from numatlas.figures.fleet import NONE_JUDGED, KernelSummary, judged_hosts, summaries
from numatlas.figures.model import Fleet
from numatlas.report.markup import Markup, el, folded
from numatlas.report.pack import embed, rounded, singles
from numatlas.units import number_text, percent_text

#: Suspects told at once, and behind "more"; all are in the table of hosts.
FIRST_SUSPECTS, MOST_SUSPECTS = 10, 200
#: Hosts that stand in the page as a table also without scripts.
MOST_PLAIN_HOSTS = 64


def fleet(figure: Fleet, identity: str) -> Markup:
    """The picture of a Fleet."""
    return el(
        "div",
        _sums(figure),
        _suspects(figure),
        el(
            "div",
            el("div", class_="choices screen", role="group", aria_label="kernel"),
            el(
                "div",
                class_="plot strip",
                role="img",
                aria_label="all hosts, from the slowest to the fastest",
            ),
            el("p", class_="quiet strip-words"),
            el("div", class_="details-here"),
            el("div", class_="hosts-here"),
            class_="by-script",
        ),
        _plain_hosts(figure) if len(figure.hosts) <= MOST_PLAIN_HOSTS else None,
        embed(f"picture-{identity}", _payload(figure)),
        data_fleet=f"picture-{identity}",
    )


def _kind(figure: Fleet, kind: int) -> str:
    return figure.kind_names[kind] if kind < len(figure.kind_names) else f"kind {kind}"


def _sums(figure: Fleet) -> Markup:
    several = len(set(figure.kinds)) > 1
    heads = ["kernel", *(["kind of host"] if several else []), "hosts"]
    heads += [f"median, {figure.unit}", "its 95 % interval", "slowest to fastest host", "hosts by bandwidth"]
    heads += ["suspects"] if figure.judged else []
    rows = [
        el(
            "tr",
            el("th", row.kernel, scope="row"),
            el("td", _kind(figure, row.kind), class_="words") if several else None,
            el("td", f"{row.count:,}"),
            el("td", el("b", number_text(row.median))),
            el(
                "td",
                f"{number_text(row.low)} to {number_text(row.high)}" if row.low is not None else "\u2013",
            ),
            el("td", f"{number_text(row.least)} to {number_text(row.most)}"),
            el("td", _histogram(row)),
            el("td", row.suspects) if figure.judged else None,
        )
        for row in summaries(figure)
    ]
    head = el("tr", [el("th", name, scope="col") for name in heads])
    return el("div", el("table", el("thead", head), el("tbody", rows), class_="plain sums"), class_="scroll")


def _histogram(row: KernelSummary) -> Markup:
    """Bars of the hosts, the slowest on the left; one host is still to be seen."""
    top = max(row.counts)
    count = len(row.counts)
    bars = [
        el("rect", x=at, y=f"{32 - height:.2f}", width="0.9", height=f"{height:.2f}")
        for at, number in enumerate(row.counts)
        if number
        for height in [max(30 * number / top, 1.5)]
    ]
    words = f"{number_text(row.least)} to {number_text(row.most)}, at most {top} hosts in a bar"
    return el(
        "svg",
        el("title", words),
        bars,
        viewBox=f"0 0 {count} 32",
        preserveAspectRatio="none",
        class_="histogram",
        role="img",
        aria_label=words,
    )


def _suspects(figure: Fleet) -> Markup:
    if not figure.judged:
        return el("p", "Nobody looked for slow hosts in this run: the file has no verdict.", class_="quiet")
    judged, hosts = judged_hosts(figure), len(figure.hosts)
    if not judged and not figure.suspects:
        return el("p", f"\u26a0 {NONE_JUDGED}.", class_="warning")
    of = (
        f"{hosts:,} hosts" if judged == hosts else f"the {judged:,} hosts, of {hosts:,}, that could be judged"
    )
    if not figure.suspects:
        return el("p", f"No suspects among {f'all {of}' if judged == hosts else of}.")
    # A host once, with its worst kernel first.
    by_host: dict[str, list[Any]] = {}
    for suspect in figure.suspects:
        by_host.setdefault(suspect.host, []).append(suspect)
    lines = [
        el(
            "li",
            found[0].words,
            f"; also {', '.join(f'{one.kernel} {percent_text(one.drop)}' for one in found[1:])}"
            if len(found) > 1
            else None,
        )
        for found in list(by_host.values())[:MOST_SUSPECTS]
    ]
    more = len(by_host) - MOST_SUSPECTS
    return el(
        "div",
        el("h5", f"Suspects: {len(by_host)} of {of}, the worst first"),
        folded(lines, FIRST_SUSPECTS, "suspects"),
        el("p", f"{more} more: sort the table of hosts by its last column", class_="quiet")
        if more > 0
        else None,
    )


def _plain_hosts(figure: Fleet) -> Markup:
    """For readers without scripts, and for paper."""
    head = el("tr", [el("th", name) for name in ["host", *figure.kernels]])
    rows = [
        el(
            "tr",
            el("th", host, scope="row"),
            [_plain_value(figure, kernel, at) for kernel in range(len(figure.kernels))],
        )
        for at, host in enumerate(figure.hosts)
    ]
    return el(
        "div",
        el("p", f"Every host, in {figure.unit}"),
        el("table", el("thead", head), el("tbody", rows), class_="plain"),
        class_="plain-hosts",
    )


def _plain_value(figure: Fleet, kernel: int, host: int) -> Markup:
    low, high = figure.low[kernel][host], figure.high[kernel][host]
    spread = f" ({number_text(low)} to {number_text(high)})" if low is not None and high is not None else None
    return el("td", number_text(figure.values[kernel][host]), el("small", spread) if spread else None)


def _payload(figure: Fleet) -> dict[str, Any]:
    facts = list(dict.fromkeys(figure.facts))
    code = {fact: index for index, fact in enumerate(facts)}
    place = {host: at for at, host in enumerate(figure.hosts)}
    return {
        "unit": figure.unit,
        "kernels": figure.kernels,
        "hosts": figure.hosts,
        **{name: [rounded(line) for line in getattr(figure, name)] for name in ("values", "low", "high")},
        "least": [rounded(line) for line in figure.least],
        "most": [rounded(line) for line in figure.most],
        "rounds": [singles(lists) for lists in figure.rounds],
        "kinds": figure.kinds,
        "kind_names": figure.kind_names,
        "facts": {"words": facts, "codes": [code[fact] for fact in figure.facts]},
        "judged": figure.judged,
        "suspects": [
            [place[one.host], figure.kernels.index(one.kernel), one.drop, one.words]
            for one in figure.suspects
        ],
    }
