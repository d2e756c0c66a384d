"""memory_results-PxT-TIMESTAMP.dat of distributed_streams, and of `numatlas stream`."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from numatlas.file_error import FileError
from numatlas.result import Result

#: The file's four kernels, and those of persistent memory (`Copy_individual`).
TIMES = ("Average", "Minimum", "Maximum")
KERNELS = ("Copy", "Scale", "Add", "Triad", "Read", "Write")


def read(path: Path, text: str) -> Result:
    """`hosts`: a row for each node and kernel: average, and best and worst round, as bandwidth of the
    whole node (B/s) and as the file's seconds. The file's average is of its processes' times."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise FileError(path, f"no whole XML: {error}") from None
    if root.tag != "stream_run":
        raise FileError(path, f"XML, but not of distributed_streams: <{root.tag}> and not <stream_run>")
    try:
        return _result(path, root)
    except (AttributeError, TypeError, ValueError, ZeroDivisionError) as error:
        raise FileError(path, f"not as distributed_streams writes it: {error}") from None


def _result(path: Path, root: ElementTree.Element) -> Result:
    asked = {element.tag: float(element.text or "") for element in root.find("configuration")}
    usual = int(asked["processes_per_node"])
    rows = []
    for node in root.find("results").findall("node"):
        processes = int(node.findtext("processes") or usual)
        for times in node:
            kernel, _, mode = times.tag.partition("_")
            if kernel in KERNELS:
                seconds = {f"{tag.lower()}_seconds": float(times.findtext(tag)) for tag in TIMES}
                named = {"host": (node.findtext("name") or "").strip(), "kernel": kernel.lower()}
                moved = asked[f"{times.tag.lower()}_size"] * processes
                rows.append(
                    {**named, "mode": mode or "memory", **seconds, "moved": moved, "processes": processes}
                )
    if not rows:
        raise FileError(path, "has no nodes: a run that was ended before its first round?")
    hosts = pd.DataFrame(rows).assign(low=None, high=None, n=None, unit="B/s", slow=False)
    rates = {"value": "average_seconds", "min": "maximum_seconds", "max": "minimum_seconds"}
    if (hosts[list(rates.values())] == 0).any(axis=None):
        raise ZeroDivisionError("a time of 0 s")
    hosts = hosts.assign(**{name: hosts["moved"] / hosts[times] for name, times in rates.items()})
    meta = {
        name: int(asked[name]) for name in ("processes_per_node", "threads_per_process", "number_of_nodes")
    }
    meta |= {"started": _started(path), "command": "stream"}
    hosts = hosts.drop(columns="moved")
    return Result(path, "distributed_streams", meta).with_frame("hosts", hosts)


def _started(path: Path) -> str:
    """hhmmDDMMYYYY of the file's name."""
    stamp = re.search(r"-(\d{2})(\d{2})(\d{2})(\d{2})(\d{4})\.dat$", path.name)
    if not stamp:
        return ""
    hour, minute, day, month, year = stamp.groups()
    return f"{year}-{month}-{day}T{hour}:{minute}"
