"""memory_results-PxT-TIMESTAMP.dat of distributed_streams, and of `numatlas stream`."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from numatlas.file_error import FileError
from numatlas.result import Result

#: The file's four kernels, and those of persistent memory (`Copy_individual`).
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
    configuration = {element.tag: float(element.text or "") for element in root.find("configuration")}
    usual = int(configuration["processes_per_node"])
    rows = []
    for node in root.find("results").findall("node"):
        name = (node.findtext("name") or "").strip()
        processes = int(node.findtext("processes") or usual)
        for times in node:
            kernel, _, mode = times.tag.partition("_")
            if kernel not in KERNELS:
                continue
            moved = configuration[f"{times.tag.lower()}_size"] * processes
            average, minimum, maximum = (
                float(times.findtext(tag)) for tag in ("Average", "Minimum", "Maximum")
            )
            rows.append(
                {
                    "host": name,
                    "kernel": kernel.lower(),
                    "mode": mode or "memory",
                    "value": moved / average,
                    "low": None,
                    "high": None,
                    "min": moved / maximum,
                    "max": moved / minimum,
                    "n": None,
                    "unit": "B/s",
                    "average_seconds": average,
                    "minimum_seconds": minimum,
                    "maximum_seconds": maximum,
                    "processes": processes,
                    "slow": False,
                }
            )
    if not rows:
        raise FileError(path, "has no nodes: a run that was ended before its first round?")
    meta = {
        "processes_per_node": usual,
        "threads_per_process": int(configuration["threads_per_process"]),
        "number_of_nodes": int(configuration["number_of_nodes"]),
        "started": _started(path),
    }
    return Result(path, "distributed_streams", meta, hosts=pd.DataFrame(rows))


def _started(path: Path) -> str:
    """hhmmDDMMYYYY of the file's name."""
    stamp = re.search(r"-(\d{2})(\d{2})(\d{2})(\d{2})(\d{4})\.dat$", path.name)
    if not stamp:
        return ""
    hour, minute, day, month, year = stamp.groups()
    return f"{year}-{month}-{day}T{hour}:{minute}"
