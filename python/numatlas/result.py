"""One result file (or a survey of several) in memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: When the null engine's clock says that a run was started.
NO_TIME = "1970-01-01"

#: Frames of a result.
FRAMES = ("flows", "totals", "host_totals", "groups", "hosts", "rounds", "rows", "skipped")
#: Columns of nodes, CPUs and ranks: integers, as far as the file tells one number each.
INTEGERS = (
    *("rank", "thread", "worker", "cpu", "cpu_node", "memory_node", "first_cpu", "second_cpu"),
    *("observed_memory_node", "compared_with_node"),
)


#: Labels of a case that its flows have too: where they were to be.
NODES = ("cpu_node", "memory_node")


def label_order(labels: Iterable[str]) -> list[str]:
    """By name, as the program writes them, but nodes first: "CPU node 0, memory node 2, 100 % reads"."""
    return sorted(labels, key=lambda name: (name not in NODES, name))


View = dict[str, Any]  #: as the program writes it (src/record/view.h)


@dataclass(frozen=True)
class Warning:
    """What figures have to be read with. Programs decide by `code` (docs/results.md); as text it is for
    people."""

    text: str
    code: str = ""
    where: str | None = None  #: case and worker; None: the whole run

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


def name_in_survey(command: str, arguments: list[str] | None) -> str:
    """What a survey calls a run of a benchmark: its command, by GPUs (--on) "latency-gpus", with loads on
    other memory "loaded-neighbours"."""
    words = [part for word in arguments or [] for part in word.split("=", 1)]
    if "--load-memory" in words:
        return f"{command}-neighbours"
    on = next((words[at + 1] for at, word in enumerate(words[:-1]) if word == "--on"), "cpus")
    return command if on == "cpus" else f"{command}-gpus"


def _frame(name: str) -> "cached_property[pd.DataFrame]":
    """Made when it is first asked for: reading a file takes no pandas, whose import takes longer."""
    return cached_property(lambda result: result._made(name))


@dataclass(repr=False, eq=False)
class Result(Mapping[str, "Result"]):
    """What one file holds, as tidy frames, and a mapping from the commands that measured to their results:
    a survey's benchmarks (those by GPUs as "latency-gpus"), of any other file itself. Values are in SI base
    units (s, B/s), sizes in bytes.

    `flows`: a row for each worker, point and metric. `totals`: a row for each point and metric over all
    its workers; `host_totals`: of several hosts, over those of each (column `host`). `groups`: medians over
    workers with CPUs and memory on the same nodes; group 0 is that of all. `hosts` and `rounds`: of STREAM
    over hosts. `rows`: of the earlier programs' own files; of `compare` and `check` a row for each case, with
    its labels and figures. A frame
    that the file has nothing for is empty. Those of a survey have the rows of all its benchmarks, with the
    column `command`. Columns that name what was asked come from the file (`size`, `pages`, `kernel`, ...);
    labels of a point (`load`, `direction`, ...) are columns too. `memory_node` of a flow is the node asked
    for where the point has that label; else, as `observed_memory_node` always, the node where most of its
    memory was seen.
    `low` and `high` are the 95 % interval, as the file has it.
    """

    path: Path
    kind: str  #: the command, such as "matrix"; or "survey", "topology", "numa_mem_bench", ...
    meta: dict[str, Any] = field(default_factory=dict)  #: the file's fields but for the measured ones
    tables: dict[str, Callable[[], Any]] = field(default_factory=dict)  #: by its name, what makes a frame
    machines: list[dict[str, Any]] = field(default_factory=list)  #: snapshots, one a host
    warnings: list[Warning] = field(default_factory=list)
    of_flows: dict[tuple[int, int], list[Warning]] = field(default_factory=dict)  #: by point and flow
    labels: list[str] = field(default_factory=list)  #: columns that tell the command's points apart
    views: list[View] = field(default_factory=list)  #: how the figures are to be shown
    parts: list["Result"] = field(default_factory=list)  #: a survey's benchmarks

    flows = _frame("flows")
    totals = _frame("totals")
    host_totals = _frame("host_totals")
    groups = _frame("groups")
    hosts = _frame("hosts")
    rounds = _frame("rounds")
    rows = _frame("rows")
    skipped = _frame("skipped")  # what was not measured: name, reason

    # A result is equal to itself alone: frames have no equality.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _made(self, name: str) -> "pd.DataFrame":
        import pandas as pd

        made = self.tables[name]() if name in self.tables else None
        frame = _with_integers(pd.DataFrame(made))
        self.tables[name] = lambda: frame  # what it was made of is let go
        return frame

    def with_frame(self, name: str, frame: "pd.DataFrame", **more: Any) -> "Result":
        """The same with this frame, and other fields."""
        return replace(self, tables={**self.tables, name: lambda: frame}, **more)

    def __repr__(self) -> str:
        return f"<numatlas {self.kind} {self.path.name}: {self._contents()}>"

    def _contents(self) -> str:
        if self.parts:
            return ", ".join(part.kind for part in self.parts)
        sizes = [f"{name} {len(frame)} x {len(frame.columns)}" for name, frame in self.frames().items()]
        return ", ".join(sizes) or f"{len(self.machines)} machines"

    def __getitem__(self, kind: str) -> "Result":
        """A survey's benchmark: `survey["matrix"]`. Raises KeyError for others, which names those that it
        has."""
        for part in self.all():
            if part.kind == kind:
                return part
        raise KeyError(f"{kind}: {self.path.name} has {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(part.kind for part in self.all()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def summary(self) -> "pd.DataFrame":
        """The headline figures: a row for each heading of the program's summary, in its order, with the `key`
        of the fact in front, `words` (the heading), `value`, `low` and `high` in SI units, `unit`, and in
        words this figure (`text`, `spread`), what else is known of it (`claim`), the heading's other
        figures (`beside`) and where it was measured (`where`)."""
        from numatlas.facts import summary

        return summary(self)

    @property
    def name(self) -> str:
        """Words for people: the host and when, or the file."""
        started = self.meta.get("started") or ""
        if started.startswith(NO_TIME):
            started = ""
        return " ".join(word for word in (self.machine.get("host"), started) if word) or self.path.name

    @property
    def machine(self) -> dict[str, Any]:
        """The snapshot of the first host; {} where the file has none."""
        return self.machines[0] if self.machines else {}

    @property
    def command(self) -> str:
        """The command that measured, or the kind of the file."""
        return self.meta.get("command", self.kind)

    def all(self) -> list["Result"]:
        """This result, or the benchmarks of a survey."""
        return self.parts or [self]

    def warnings_of_survey(self) -> list[Warning]:
        """Those of a benchmark, as its survey tells them: the name of a case does not say whose it is."""
        return [
            replace(one, where=f"{self.command} {one.where}") if one.where else one for one in self.warnings
        ]

    def frames(self) -> "dict[str, pd.DataFrame]":
        """The frames that hold something, by name."""
        return {name: frame for name in FRAMES if not (frame := getattr(self, name)).empty}


def _with_integers(frame: "pd.DataFrame") -> "pd.DataFrame":
    """With columns of nodes and CPUs as integers that may be absent; one with other words ("0-2") stays."""
    import pandas as pd

    found = {}
    for name in INTEGERS:
        if name in frame:
            numbers = pd.to_numeric(frame[name], errors="coerce")
            if numbers.notna().sum() == frame[name].notna().sum() and (numbers.dropna() % 1 == 0).all():
                found[name] = numbers.astype("Int64")
    return frame.assign(**found)
