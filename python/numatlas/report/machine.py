"""The machine as boxes: packages, their nodes, caches and CPUs; what has no CPUs; GPUs; settings."""

from typing import Any

from numatlas.figures.model import MachinePicture
from numatlas.report.markup import Markup, el
from numatlas.report.ranges import numbers_of, ranges_of
from numatlas.units import number_text, size_text

#: CPUs of a cache are named one by one up to so many in a machine.
MOST_SINGLE_CPUS = 512

Snapshot = dict[str, Any]


def machine(figure: MachinePicture) -> Markup:
    """The picture of a snapshot, with whatever of it there is."""
    snapshot = figure.machine
    nodes = snapshot.get("nodes", [])
    packages = _packages(snapshot)
    placed = {node for members in packages.values() for node in members}
    others = [node for node in nodes if node["id"] not in placed]
    by_id = {node["id"]: node for node in nodes}
    lost = [gpu for gpu in snapshot.get("gpus", []) if gpu.get("node") not in by_id]
    return el(
        "div",
        el("dl", [[el("dt", name), el("dd", value)] for name, value in figure.facts], class_="facts"),
        el(
            "div",
            [
                el(
                    "div",
                    el("h5", f"Package {package}"),
                    el("div", [_node(snapshot, by_id[node]) for node in members], class_="nodes"),
                    class_="package broad" if len(members) > 1 else "package",
                )
                for package, members in packages.items()
            ],
            _group("Memory without CPUs", [_node(snapshot, node) for node in others]),
            _group("GPUs whose node is not known", [_gpu(gpu) for gpu in lost]),
            class_="machine",
        ),
        _persistent(snapshot),
        el("div", _distances(nodes), _settings(snapshot), class_="beside"),
        [el("p", note, class_="quiet") for note in snapshot.get("notes", [])],
    )


def _group(title: str, boxes: list[Markup]) -> Markup | None:
    if not boxes:
        return None
    return el("div", el("h5", title), el("div", boxes, class_="nodes"), class_="package")


def _packages(snapshot: Snapshot) -> dict[Any, list[int]]:
    """Node numbers of each package; a node that spans packages stands at its first."""
    known = {node["id"] for node in snapshot.get("nodes", [])}
    found: dict[Any, list[int]] = {}
    seen: set[int] = set()
    for cpu in snapshot.get("cpus", []):
        node = cpu.get("node")
        if node in known and node not in seen:
            seen.add(node)
            package = cpu.get("package")
            found.setdefault("?" if package is None else package, []).append(node)
    return {package: sorted(nodes) for package, nodes in sorted(found.items(), key=lambda pair: str(pair[0]))}


def _node(snapshot: Snapshot, node: dict[str, Any]) -> Markup:
    kind = (node.get("kind") or "").upper() or "memory"
    tier = node.get("memory_tier")
    total, free = node.get("memory_total"), node.get("memory_free")
    memory = size_text(total) if total else "no memory"
    words = [f"{memory} {kind}" if total else memory]
    if free is not None and total:
        words.append(f"{size_text(free)} free")
    if tier is not None:
        words.append(f"tier {tier}")
    lines = [el("p", ", ".join(words)), _hmat(node.get("hmat"))]
    for pages in node.get("huge_pages", []):
        if pages.get("total"):
            lines.append(
                el(
                    "p",
                    f"{pages['free']} of {pages['total']} huge pages of {size_text(pages['page_size'])} free",
                    class_="quiet",
                )
            )
    if not node.get("cpus"):
        nearest = _nearest(snapshot, node)
        lines.append(el("p", f"no CPUs{nearest}", class_="quiet"))
    else:
        lines.append(_caches(snapshot, node))
    lines += [_gpu(gpu) for gpu in snapshot.get("gpus", []) if gpu.get("node") == node["id"]]
    extra = "" if node.get("cpus") and total else " special"
    return el("div", el("h6", f"Node {node['id']}"), lines, class_=f"node{extra}")


def _nearest(snapshot: Snapshot, node: dict[str, Any]) -> str:
    with_cpus = {str(other["id"]) for other in snapshot.get("nodes", []) if other.get("cpus")}
    distance = {name: far for name, far in (node.get("distance") or {}).items() if name in with_cpus}
    if not distance:
        return ""
    least = min(distance.values())
    return f"; nearest: node {', '.join(name for name, far in distance.items() if far == least)}"


def _hmat(hmat: dict[str, Any] | None) -> Markup | None:
    if not hmat:
        return None
    words = []
    if hmat.get("read_latency"):
        words.append(f"{number_text(hmat['read_latency'] * 1e9, 3)} ns")
    if hmat.get("read_bandwidth"):
        words.append(f"{number_text(hmat['read_bandwidth'] * 1e-9, 3)} GB/s")
    return el("p", f"the firmware claims {', '.join(words)}", class_="quiet") if words else None


def _caches(snapshot: Snapshot, node: dict[str, Any]) -> list[Markup]:
    """The CPUs in groups that share their largest cache; smaller caches in words."""
    mine = numbers_of(node["cpus"])
    caches = [cache for cache in snapshot.get("caches", []) if cache.get("type") != "instruction"]
    here = [(cache, cpus) for cache in caches if (cpus := set(numbers_of(cache["cpus"])) & set(mine))]
    top = max((cache["level"] for cache, _ in here), default=0)
    lower = []
    for level in sorted({cache["level"] for cache, _ in here if cache["level"] != top}):
        sizes = {(cache["size"], len(cpus)) for cache, cpus in here if cache["level"] == level}
        lower += [f"L{level} {size_text(size)} for {_count(cpus, 'CPU')}" for size, cpus in sorted(sizes)]
    groups = [
        (f"L{top} {size_text(cache['size'])}", sorted(cpus)) for cache, cpus in here if cache["level"] == top
    ]
    covered = {cpu for _, cpus in groups for cpu in cpus}
    if set(mine) - covered:
        groups.append(("CPUs", sorted(set(mine) - covered)))
    allowance = snapshot.get("allowance") or {}
    allowed = set(numbers_of(allowance.get("affinity") or allowance.get("cpuset") or node["cpus"]))
    single = len(snapshot.get("cpus", [])) <= MOST_SINGLE_CPUS
    boxes = [
        el(
            "div",
            el("span", name, class_="cache-name"),
            [_cpu(cpu, cpu in allowed) for cpu in cpus] if single else el("span", ranges_of(cpus)),
            class_="cache",
        )
        for name, cpus in groups
    ]
    outside = [cpu for cpu in mine if cpu not in allowed]
    return [
        el("p", ", ".join(lower), class_="quiet") if lower else Markup(""),
        el("div", boxes, class_="caches"),
        el("p", f"{_count(len(outside), 'CPU')} (dashed) not for this process", class_="quiet")
        if outside
        else Markup(""),
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _cpu(cpu: int, allowed: bool) -> Markup:
    return el("span", cpu, class_="cpu" if allowed else "cpu outside", title=f"CPU {cpu}")


def _gpu(gpu: dict[str, Any]) -> Markup:
    words = [gpu.get("name") or gpu.get("vendor") or "GPU"]
    if gpu.get("memory"):
        words.append(size_text(gpu["memory"]))
    links = [hop for hop in gpu.get("path") or [] if hop.get("speed") and hop.get("width")]
    link = None
    if links:
        narrow = min(links, key=lambda hop: hop["speed"] * hop["width"])
        text = f"link {narrow['speed'] / 1e9:.3g} GT/s x{narrow['width']}"
        most = (narrow.get("max_speed") or 0) * (narrow.get("max_width") or 0)
        if most > narrow["speed"] * narrow["width"]:
            text += f" (could be {narrow['max_speed'] / 1e9:.3g} GT/s x{narrow['max_width']})"
        link = el("p", text, class_="quiet")
    else:
        link = el("p", gpu.get("pci_address") or "", class_="quiet")
    memory_node = gpu.get("memory_node")
    return el(
        "div",
        el("p", el("b", f"GPU {gpu.get('index', '?')} "), ", ".join(words)),
        link,
        el("p", f"its memory is node {memory_node}", class_="quiet") if memory_node is not None else None,
        class_="gpu",
    )


def _persistent(snapshot: Snapshot) -> Markup | None:
    found = snapshot.get("persistent_memory") or []
    if not found:
        return None
    lines = []
    for device in found:
        words = [device.get("name") or "?", device.get("mode")]
        words.append(size_text(device["size"]) if device.get("size") else None)
        words.append(f"at node {device['node']}" if device.get("node") is not None else None)
        target = device.get("target_node")
        words.append(
            f"seen as node {target}" if target is not None and target != device.get("node") else None
        )
        lines.append(el("li", ", ".join(word for word in words if word)))
    return el("div", el("h5", "Persistent and CXL memory"), el("ul", lines))


def _distances(nodes: list[dict[str, Any]]) -> Markup | None:
    if len(nodes) < 2 or not any(node.get("distance") for node in nodes):
        return None
    names = [str(node["id"]) for node in nodes]
    rows = [
        el(
            "tr",
            el("th", name, scope="row"),
            [el("td", (node.get("distance") or {}).get(other, "\u2013")) for other in names],
        )
        for name, node in zip(names, nodes, strict=True)
    ]
    head = el("tr", el("th", "node"), [el("th", name, scope="col") for name in names])
    return el(
        "div",
        el("h5", "Distances (SLIT, by the firmware; 10 is local)"),
        el("div", el("table", el("thead", head), el("tbody", rows), class_="plain"), class_="scroll"),
    )


def _settings(snapshot: Snapshot) -> Markup | None:
    settings = snapshot.get("settings") or []
    if not settings:
        return None
    rows = [
        el(
            "tr",
            el("th", setting.get("name"), scope="row"),
            el(
                "td",
                setting.get("value"),
                el("span", f"\u26a0 {setting['warning']}", class_="why") if setting.get("warning") else None,
            ),
            class_="disturbs" if setting.get("warning") else None,
        )
        for setting in settings
    ]
    return el(
        "div",
        el("h5", "Settings (\u26a0: disturbs measurements)"),
        el("div", el("table", el("tbody", rows), class_="plain words"), class_="scroll"),
    )
