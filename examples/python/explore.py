"""A walk through a survey, cell by cell: open it as a notebook (Jupytext, VS Code, Spyder), or run it.

    build/venv/bin/python examples/python/explore.py [SURVEY]
"""

# %% [markdown]
# Load a survey: the folder that `numatlas survey` wrote, its survey.json, or the emulated machine with four
# nodes that lies beside this example (its places are real, its times are the emulator's).

# %%
import sys
from pathlib import Path

import pandas as pd

import numatlas

here = Path(__file__).resolve().parent
file = sys.argv[1] if len(sys.argv) > 1 else here.parent / "results" / "four-nodes.json"
try:
    survey = numatlas.load(file)
except numatlas.FileError as error:
    print(f"explore.py: error: {error}", file=sys.stderr)
    sys.exit(error.code)
parts = dict(survey)
print(f"{survey.name}: {', '.join(parts)}")

# %% [markdown]
# What there is: the frames of each benchmark, and their rows.

# %%
for part in parts.values():
    print(f"{part.kind}: {', '.join(f'{name} {len(frame)}' for name, frame in part.frames().items())}")

# %% [markdown]
# A row a worker, point and metric. `low` and `high` are the 95 % interval of the median. A survey has what
# its machine and its time allowed: where it has no matrix, this cell and the next three show nothing.

# %%
cells = parts.get("matrix") or numatlas.Result(survey.path, "matrix")
flows = cells.flows
latency = flows[flows["metric"] == "latency"].copy() if len(flows) else flows
if len(latency):
    latency["ns"] = latency["value"] * 1e9
    columns = ["cpu_node", "memory_node", "ns", "n", "half_width", "stop"]
    print(latency[columns].to_string(index=False))

# %% [markdown]
# The latency of every node's CPUs to every node's memory, and how many times as long the farthest takes.

# %%
if len(latency):
    matrix = latency.pivot_table(index="cpu_node", columns="memory_node", values="ns")
    print(matrix.round(1).to_string())
    own = pd.Series({node: matrix.loc[node, node] for node in matrix.index if node in matrix.columns})
    penalty = matrix.div(own, axis=0)
    print(f"worst: {penalty.max().max():.2f} times the node's own memory")

# %% [markdown]
# Placement is observed: the pages of each chase, where they were asked for and where they were seen (in words
# only in JSON).

# %%
if len(latency):
    places = latency.filter(["memory", "observed_memory_node", "placement", "page_size"]).drop_duplicates()
    print(places.to_string(index=False))
    seen = latency["observed_memory_node"].map(lambda node: f"bind:{node}".removesuffix(".0"))
    print(f"{(latency['memory'] != seen).sum()} of {len(latency)} chases had most of their pages elsewhere")

# %% [markdown]
# Sums over all workers of a point: bytes as STREAM counts them, in the time in which all were recording.

# %%
totals = cells.totals
sums = totals[totals["metric"] == "bandwidth_sum"] if len(totals) else totals
if len(sums):
    sums = sums.assign(GBps=sums["value"] * 1e-9)
    table = sums.pivot_table(index=["kernel", "cpu_node"], columns="memory_node", values="GBps")
    print(table.round(2).to_string())

# %% [markdown]
# What was not measured, and why; what to be wary of.

# %%
for part in [survey, *survey.all()]:
    for row in part.skipped.itertuples(index=False):
        print(f"{part.kind}: {row.name}: {row.reason}")
for warning in survey.warnings:
    print(warning)
