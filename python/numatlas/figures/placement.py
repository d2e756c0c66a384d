"""Where the memory of flows was seen to lie, in a sentence that counts pages and flows."""

import pandas as pd

from numatlas.figures.told import column

#: More placements than these are counted only.
MOST_PLACEMENTS = 4
MOST_ASTRAY = 3

COUNTS = ("pages_total", "pages_checked", "pages_observed", "pages_elsewhere")


def placement_of(flows: pd.DataFrame) -> str:
    """Where the memory of these flows was seen to lie; "" where none of it is the host's."""
    seen = flows.drop_duplicates(["point", "flow"]) if {"point", "flow"} <= set(flows) else flows
    if seen.empty:
        return ""
    if "placement" not in seen:
        return "the file does not tell where the memory lay"
    memory = _memories(seen)
    if memory.empty:
        return ""
    observed = memory[memory["pages_observed"] > 0]
    if observed.empty:
        problems = [str(text) for text in memory["placement"].dropna().unique()[:MOST_ASTRAY]]
        return "; ".join(["where the pages lay was not observed", *problems])
    limits = _limits(seen, memory, observed)
    if len(observed["pages_elsewhere"].dropna()) == len(observed) and not observed["pages_elsewhere"].any():
        pages = sorted({str(page) for page in column(seen, "page_size").dropna()})
        kinds = f"; pages of {', '.join(pages)}" if pages else ""
        return f"observed: all pages {'seen ' if limits else ''}on the node asked for{limits}{kinds}"
    return "observed: " + _listed(observed) + limits


def _memories(seen: pd.DataFrame) -> pd.DataFrame:
    """A row for each flow's memory, and one for its source where that is apart; not those of a GPU."""
    parts = []
    for prefix, words in (("", ""), ("source_", "source: ")):
        part = pd.DataFrame({name: pd.to_numeric(column(seen, prefix + name)) for name in COUNTS})
        part = part.assign(
            memory=column(seen, f"{prefix}memory"), placement=column(seen, f"{prefix}placement"), words=words
        )
        # A file without placements asked for still tells those seen.
        present = part["memory"].notna() | part["placement"].notna() if prefix else True
        parts.append(part[present & ~part["memory"].astype(str).str.startswith("gpu:")])
    return pd.concat(parts, ignore_index=True)


def _limits(seen: pd.DataFrame, memory: pd.DataFrame, observed: pd.DataFrame) -> str:
    """What the observation does not cover, in brackets; "" where it covers all."""
    words = []
    if len(observed) < len(memory):
        what = "flows" if len(memory) <= len(seen) else "memories of flows"
        words.append(f"of {len(memory)} {what}, {len(observed)} observed")
    part = observed[observed["pages_checked"] < observed["pages_total"]]
    if len(part):
        words.append(
            f"a sample of {int(part['pages_checked'].sum())} of {int(part['pages_total'].sum())} pages"
        )
    dark = int((observed["pages_checked"] - observed["pages_observed"]).clip(lower=0).sum())
    if dark:
        words.append(f"the node of {dark} page{'s' * (dark > 1)} is not known")
    return f" ({'; '.join(words)})" if words else ""


def _listed(observed: pd.DataFrame) -> str:
    counts = (observed["words"] + observed["placement"].astype(str)).value_counts()
    texts = [
        f"{text} ({count} of {len(observed)})" if len(counts) > 1 else text
        for text, count in counts.head(MOST_PLACEMENTS).items()
    ]
    words = "; ".join(texts)
    if len(counts) > MOST_PLACEMENTS:
        words += f", and {len(counts) - MOST_PLACEMENTS} others"
    astray = observed[observed["pages_elsewhere"] > 0]
    for row in astray.head(MOST_ASTRAY).itertuples():
        pages = f"{int(row.pages_elsewhere)} of {int(row.pages_observed)} pages elsewhere"
        words += f"; {row.words}asked {row.memory}, seen {row.placement} ({pages})"
    if len(astray) > MOST_ASTRAY:
        words += f"; {len(astray)} in all with pages elsewhere"
    return words
