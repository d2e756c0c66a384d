// The fields of the record, each listed once (base/fields.h says what follows from that).
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "machine/identity_fields.h"
#include "machine/source.h"
#include "record/drawn.h"
#include "record/headline.h"
#include "record/report.h"

namespace numatlas {

namespace fields {
template <>
struct EnumNames<Status> {
  using enum Status;
  static constexpr EnumName<Status> values[] = {
      {ok, "ok"}, {skipped, "skipped"}, {failed, "failed"}, {incomplete, "incomplete"}};
};
template <>
struct EnumNames<Method> {
  using enum Method;
  static constexpr EnumName<Method> values[] = {{none, "none"},           {samples, "samples"},
                                                {stretches, "stretches"}, {derived, "derived"},
                                                {visits, "visits"},       {within, "within"}};
};
template <>
struct EnumNames<ErrorKind> {
  static constexpr const auto& values = error_kind_names;
};
template <>
struct EnumNames<ViewKind> {
  using enum ViewKind;
  static constexpr EnumName<ViewKind> values[] = {
      {table, "table"}, {matrix, "matrix"}, {curve, "curve"}};
};
template <>
struct EnumNames<ViewLevel> {
  using enum ViewLevel;
  static constexpr EnumName<ViewLevel> values[] = {
      {cases, "cases"}, {groups, "groups"}, {flows, "flows"}};
};
template <>
struct EnumNames<Part> {
  using enum Part;
  static constexpr EnumName<Part> values[] = {{value, "value"},
                                              {half_width, "half_width"},
                                              {with_interval, "with_interval"},
                                              {least, "least"},
                                              {most, "most"},
                                              {spread, "spread"},
                                              {p95, "p95"},
                                              {p99, "p99"},
                                              {best, "best"}};
};
}  // namespace fields

using fields::Of;

/// Its symbol; null for "".
nlohmann::json to_json(Unit unit);
void from_json(const nlohmann::json& value, const fields::Place& place, Unit& out);
nlohmann::json schema_of(fields::Tag<Unit>);

void list_fields(auto& f, Of<Warning> auto& w) {
  f("code", w.code, "what is meant, in kebab-case; programs decide by this");
  f("where", w.where, "case and worker; null for the whole run");
  f("text", w.text, "for people");
}

void list_fields(auto& f, Of<Error> auto& e) {
  f("kind", e.kind, "as in docs/exit-codes.md");
  f("message", e.message, "for people");
  f("hint", e.hint, "what to try");
}

void list_fields(auto& f, Of<Estimate> auto& e) {
  f("value", e.value, "in the figure's unit");
  f("low", e.low, "lower end of the 95 % confidence interval");
  f("high", e.high, "upper end");
  f("n", e.n, "samples, stretches or visits that the interval is made of");
  f("method", e.method, "how the interval was made");
}
std::string problem_of(const Estimate& estimate);

void list_fields(auto& f, Of<Summary> auto& s) {
  f("n", s.n, "samples");
  f("median", s.median, "in the figure's unit, as all below");
  f("p5", s.p5, "5th percentile");
  f("p25", s.p25, "25th percentile");
  f("p75", s.p75, "75th percentile");
  f("p95", s.p95, "95th percentile");
  f("p99", s.p99, "99th percentile");
  f("min", s.min, "least sample");
  f("max", s.max, "largest sample");
  f("mean", s.mean, "arithmetic mean");
  f("stddev", s.stddev, "sample standard deviation; null for one sample");
  f("mad", s.mad, "median absolute deviation, unscaled");
  f("outliers", s.outliers, "samples beyond Tukey's fences of 1.5 IQR; none is removed");
}

void list_fields(auto& f, Of<Distribution> auto& d) {
  f("bins", d.bins, "i: samples from 1.02^i to 1.02^(i+1) in the figure's unit");
  f("counts", d.counts, "samples in each of the bins");
}
std::string problem_of(const Distribution& distribution);

void list_fields(auto& f, Of<Figure> auto& figure) {
  f("key", figure.key, "name of the quantity");
  f("unit", figure.unit, "SI: s, B/s; 1 for shares");
  f("estimate", figure.estimate, "null when it could not be measured");
  f("summary", figure.summary, "of the samples; null for what has none");
  f.inner("distribution", figure.distribution);
}

template <class Fields>
void list_fields(Fields& f, Of<Residency> auto& r) {
  f("pages_by_node", r.pages_by_node, "pages seen on each NUMA node (OS number)");
  f("pages_untouched", r.untouched, "pages without memory behind them");
  f("pages_unknown", r.errors, "pages that the kernel could not tell");
  f("pages_total", r.pages_total, "pages of the memory");
  f("pages_asked", r.pages_asked, "pages asked for: all, or an evenly spread sample");
  f("page_size", r.page_size, "bytes; the kernel's page size of the mapping");
  f("thp_fraction", r.thp_fraction, "part of the memory in transparent huge pages");
  f("told_by", r.told_by, "null: the kernel, page by page; device, devices: the device's node");
  f("problem", r.problem, "why it could not be observed");
  // For people and other programs; a reader makes it of the others.
  if constexpr (Fields::writes) f("page_text", r.page_text(), "page sizes in words");
}

void list_fields(auto& f, Of<PolicyOutcome> auto& p) {
  f("mechanism", p.mechanism, "how the memory was placed");
  f("note", p.note, "why this way and not a better one");
}

void list_fields(auto& f, Of<PciLink> auto& l) {
  f("speed", l.speed, "transfers a second and lane, now");
  f("max_speed", l.max_speed, "at most");
  f("width", l.width, "lanes now");
  f("max_width", l.max_width, "at most");
}

void list_fields(auto& f, Of<GpuResult> auto& g) {
  f("gpu", g.gpu, "number, as gpu:N names it");
  f("direction", g.direction, "h2d, d2h, p2p; null of the pointer chase");
  f("name", g.name, "as its driver calls it");
  f("pci_address", g.pci_address, "domain:bus:device.function");
  f("pinning", g.pinning, "pinned, pageable, zero-copy");
  f("caches", g.caches, "of the chase through a GPU's memory: cached, l2");
  f("copies_per_step", g.copies_per_step, "copies timed together");
  f("loads_per_step", g.loads_per_step, "loads timed together");
  f("clock_error", g.clock_error, "seconds that start times may be off");
  f("residency_before_pinning", g.before_pinning, "of the host's memory");
  f("residency_after", g.after, "after the last step");
  f("link", g.link, "at its fastest during the copies");
  f("link_limit", g.link_limit, "B/s of the narrowest link on the way");
  f.later("frequency", g.frequency, "Hz of its processors after the last visit, where it was read");
  f.later("slowed_by", g.slowed_by,
          "what held its clocks down at the end of any visit: heat, power limit");
  f("route", g.route, "between GPUs: direct, through the host");
  f.later("memory_bandwidth", g.memory_bandwidth,
          "B/s of its memory's bus, where it works on that");
  f.later("blocks", g.blocks, "of a launch that streams");
  f.later("block_threads", g.block_threads, "threads of each of them");
  f.inner("steps", g.steps);
}

void list_fields(auto& f, Of<FlowAsk> auto& flow) {
  f("load", flow.load, "it kept the memory busy while others were measured");
  f("kernel", flow.kernel, "what it did");
  f("mix", flow.mix, "lines read to lines written, 2:1; of the mix");
  f("stores", flow.stores, "how it wrote");
  f("order", flow.order, "of the pointer chase");
  f("stride", flow.stride, "bytes between elements of the pointer chase");
  f("size", flow.size, "bytes of the memory it worked on");
  f("memory", flow.memory, "placement asked for");
  f("source_memory", flow.source_memory, "placement asked for what it reads, where that is apart");
  f("rate", flow.rate, "B/s that it was held to");
  f("first_touch", flow.first_touch, "worker that touched its memory first, if another");
}

void list_fields(auto& f, Of<FlowResult> auto& flow) {
  f("worker", flow.worker, "index into the report's workers");
  list_fields(f, flow.ask());
  f("figures", flow.figures, "what it measured; --precision applies to the first");
  f("stop", flow.stop, "converged, time_cap, interrupted, passes");
  f("overlap", flow.overlap, "part of its time in which all flows of its host ran");
  f("together", flow.together, "seconds in which all flows of its host recorded");
  f.later("stopped", flow.stopped, "seconds of samples in which it did not run all the time");
  f("level", flow.level, "cache level that the working set fits, or memory");
  f("address", flow.address, "virtual address of its memory");
  f("cpu_before", flow.cpu_before, "CPU it ran on when it began");
  f("cpu_after", flow.cpu_after, "and when it ended");
  f("residency", flow.residency, "where its pages were");
  f("source_residency", flow.source_residency, "of what it reads, where that is apart");
  f("policy", flow.policy, "how its memory was placed");
  f("wrong", flow.wrong, "what the check of its output found; null when all was right");
  f("gpu", flow.gpu, "of a GPU's flow");
  f("steps_per_sample", flow.steps_per_sample, "steps of the kernel in a sample");
  f("warm_up_steps", flow.warm_up_steps, "steps before the first sample");
  f("involuntary_switches", flow.involuntary_switches, "times it lost its CPU");
  f.later("pages_moved", flow.pages_moved, "pages that moved to another node in the last visit");
  f.later("frequency", flow.frequency, "Hz of its CPU after the last visit, where it was read");
  f("timer_overhead", flow.timer_overhead, "seconds for a reading of the clock");
  f("prepare_time", flow.prepare_time, "seconds to allocate, touch and build");
  f("warnings", flow.warnings, "what its figures have to be read with");
  f.inner("distribution", flow.distribution);
  f.inner("stretch_bytes", flow.stretch_bytes);
}

void list_fields(auto& f, Of<ProcessPasses> auto& p) {
  f("rank", p.rank, "global");
  f("starts", p.starts, "of each pass: seconds after the host's first process");
  f("seconds", p.seconds, "of each pass");
}

template <class Fields>
void list_fields(Fields& f, Of<HostTotals> auto& h) {
  f("host", h.host, "index into the report's hosts");
  f("figures", h.figures, "over the flows of the host, or its passes");
  if (!Fields::writes || !h.passes.empty())
    f.later("passes", h.passes,
            "times of every pass of a run reduced to hosts; the first warms up");
  if (!Fields::writes || !h.again.empty())
    f.later("again", h.again, "the same of its second run (--retest)");
  if (!Fields::writes || !h.processes.empty())
    f.later("processes", h.processes, "passes of every process (--samples)");
}

template <class Fields>
void list_fields(Fields& f, Of<HostRow> auto& h) {
  f("kind", h.kind, "index into machines, which has one of each kind of hosts");
  f("first_rank", h.first_rank, "global rank of its first process");
  f("processes", h.processes, "ranks on the host");
  f("workers", h.workers, "threads of all of them");
  f("placement", h.placement, "where its memory was, as observed");
  if (!Fields::writes || !(h.identity == Identity{}))
    f.later("identity", h.identity, "which machine it is");
}
std::string problem_of(const HostRow& row);

void list_fields(auto& f, Of<FlowGroup> auto& g) {
  f("labels", g.labels, "what its flows have alike; empty: all measured flows");
  f("workers", g.workers, "number of its flows");
  f("figures", g.figures, "medians over its flows; the summaries are of the flows' values");
}

void list_fields(auto& f, Of<VisitValues> auto& v) {
  f("key", v.key, "of the figure");
  f("unit", v.unit, "SI: s, B/s; 1 for shares");
  f("values", v.values, "of each visit, in their order");
  f("best", v.best, "the best of them");
  f.later("relative", v.relative, "to the pilots around each visit; null without them");
}

void list_fields(auto& f, Of<PilotSeries> auto& p) {
  f("key", p.key, "pilot_bandwidth, pilot_latency");
  f("unit", p.unit, "SI: s, B/s");
  f("kernel", p.kernel, "what its workers did");
  f("size", p.size, "bytes of memory per worker");
  f("workers", p.workers, "that took part");
  f("memory", p.memory, "placement asked for it");
  f("start", p.start, "seconds of the run, of each");
  f("end", p.end, "seconds of the run, of each");
  f("values", p.values, "of each: the sum of the workers' rates, or the mean of their latencies");
  f("estimate", p.estimate, "over all of them");
}

std::string problem_of(const PilotSeries& pilot);

void list_fields(auto& f, Of<Visits> auto& v) {
  f("count", v.count, "visits");
  f("seconds", v.seconds, "from the start of the first visit to the end of the last one");
  f("memory_kept", v.memory_kept, "visits after which the next one found the same memory");
  f.later("repeated", v.repeated, "visits measured again because their first try was disturbed");
  f.later("disturbed", v.disturbed, "visits that count although they were disturbed");
  f.later("others", v.others, "per visit: CPUs used by other processes, on the host with the most");
  f.later("stolen", v.stolen,
          "per visit: CPUs withheld by the hypervisor, on the host with the most");
  f.later("throttled", v.throttled,
          "per visit: CPUs withheld by a CPU quota, on the host with the most");
  f.later("frequency", v.frequency, "per visit: Hz of the workers' CPUs at its end");
  f.later("gpu_frequency", v.gpu_frequency,
          "per visit: Hz of the slowest GPU's processors at its end");
  f.later("switches", v.switches, "per visit: times that a worker lost its CPU");
  f.later("stopped", v.stopped,
          "per visit: seconds in which the worker did not run that was stopped longest");
  f.later("pages_moved", v.pages_moved, "per visit: pages that moved to another node, at least");
  f("figures", v.figures, "values of each visit");
}

void list_fields(auto& f, Of<Case> auto& c) {
  f("name", c.name, "for people");
  f("labels", c.labels, "what tells it from the other cases of its command");
  f.later("flows_text", c.flows_text, "of run: its flows in a line, as it takes them");
  f("kernel", c.kernel, "what its measured flows did");
  f("stores", c.stores, "how they wrote");
  f("size", c.size, "bytes of memory per worker");
  f("pages", c.pages, "page kind asked for");
  f("order", c.order, "of the pointer chase");
  f("stride", c.stride, "bytes between its elements");
  f("precision", c.precision, "its own target, where it is not the run's");
  f("time_cap", c.time_cap, "seconds; its own, where it is not the run's");
  f("status", c.status, "ok, skipped, failed, incomplete");
  f("reason", c.reason, "why it was skipped, failed or is incomplete");
  f("figures", c.figures, "over all flows");
  f("host_figures", c.host_totals, "over the flows of each host, where there are several");
  f("groups", c.groups, "medians over flows, where several measured the same");
  f("distribution", c.distribution,
    "of the measured flows' samples, in the unit of their first figure");
  f.later("visits", c.visits, "when and how often it was measured; null if it never was");
  f("flows", c.flows, "what each worker measured");
}

void list_fields(auto& f, Of<ViewColumn> auto& c) {
  f("head", c.head, "as people read it");
  f("label", c.label, "label shown; null for a figure");
  f("figure", c.figure, "key of the figure shown; null for a label");
  f("part", c.part, "part of the figure shown");
  f("scale", c.scale, "factor from the figure's unit to the one shown");
  f("digits", c.digits, "behind the point");
  f("unit", c.unit, "behind each number");
}

template <class Fields>
void list_fields(Fields& f, Of<View> auto& v) {
  f("title", v.title, "with the unit");
  f("kind", v.kind, "table, matrix, curve");
  f("level", v.level, "what a table has one row of");
  f("where", v.where, "labels of what is shown; a case without the label is always shown");
  f("rows", v.rows, "label of a matrix's rows; label or figure of a curve's horizontal axis");
  f("columns", v.columns, "label of a matrix's columns; one column for each value");
  f("symmetric", v.symmetric, "a cell stands for both orders of its labels");
  if (!Fields::writes || v.by_host)
    f.later("by_host", v.by_host, "of several hosts: shown for each of them; false where absent");
  f("cells", v.cells, "columns of a table; what stands in a cell of a matrix");
  f("notes", v.notes, "how to read it");
  f("verdict", v.verdict, "what follows from it");
}

void list_fields(auto& f, Of<DrawnCell> auto& c) {
  f("text", c.text, "for people; - where nothing is known");
  f.sparse("note", c.note, "beside it");
  f.sparse("why", c.why, "of an empty cell: why");
  f.sparse("value", c.value, "in the unit shown, sizes in bytes; absent where there is no number");
  f.sparse("low", c.low, "lower end of the interval, or the lowest worker");
  f.sparse("high", c.high, "upper end, or the highest worker");
  f.sparse("flagged", c.flagged, "known to within more than 10 % only");
}

void list_fields(auto& f, Of<DrawnRow> auto& r) {
  f.sparse("name", r.name, "of a table: rows of one name stand together");
  f.sparse("group", r.group, "rows of one group have one colour");
  f.sparse("line", r.line, "over an axis: the line that its point is of");
  f.sparse("case", r.of_case, "number of its case; absent in matrices");
  f.sparse("warnings", r.warnings, "what its flows have to be read with");
  f("cells", r.cells, "one for each head");
}

void list_fields(auto& f, Of<DrawnHead> auto& h) {
  f("text", h.text, "for people");
  f.sparse("value", h.value, "where it is a number, sizes in bytes");
  f.sparse("unit", h.unit, "of a column of figures");
  f.sparse("line", h.line, "over an axis in the rows: the line that its points are of");
}

void list_fields(auto& f, Of<DrawnQuantity> auto& q) {
  f("words", q.words, "for people");
  f("unit", q.unit, "of the numbers: ns, GB/s, bytes, ...");
  f.sparse("by_powers", q.by_powers, "of an axis: steps by ratio");
}

void list_fields(auto& f, Of<DrawnMark> auto& m) {
  f("at", m.at, "of an axis, in its unit");
  f("text", m.text, "for people");
  f.sparse("level", m.level, "of the vertical axis");
  f.sparse("wanted", m.wanted, "an axis that ends not far before it reaches to it");
}

void list_fields(auto& f, Of<DrawnSpecial> auto& s) {
  f.sparse("line", s.line, "that it is on");
  f("x", s.x, "in the unit of the axis");
  f("y", s.y, "the same");
  f("text", s.text, "for people: knee 150 GB/s");
  f("what", s.what, "what such a mark is, for a legend");
}

void list_fields(auto& f, Of<Drawn> auto& d) {
  f.sparse("of", d.of, "labels of all of it, beside those of the view");
  f.sparse("of_words", d.of_words, "the same for people");
  f("heads", d.heads, "of its columns");
  f("left", d.left, "columns that name the rows");
  f.sparse("main", d.main,
           "the column that is drawn, and all after it where a label has its values as columns");
  f.sparse("figure", d.figure, "key of what is drawn");
  f.sparse("shown", d.shown, "what these show");
  f.sparse("less_is_better", d.less_is_better, "of their values");
  f.sparse("spread", d.spread, "what low and high are");
  f.sparse("axis", d.axis,
           "column of a horizontal axis; as many as name the rows: its places are the heads");
  f.sparse("over", d.over, "what the axis shows");
  f.sparse("order", d.order, "of a matrix of CPUs: its places by what they share");
  f.sparse("borders", d.borders, "before which places: 1 last-level caches, 2 nodes, 3 sockets");
  f.sparse("left_out", d.left_out, "which CPUs a matrix does not have");
  f("cases", d.cases, "numbers of its cases");
  f.sparse("among", d.among, "of a curve beside others of its form: what tells it from them");
  f.sparse("together", d.together, "the title of all of these");
  f.later("row_words", d.row_words, "of a matrix, what its rows are");
  f.later("column_words", d.column_words, "what its columns are");
  f.sparse("marks", d.marks, "lines across the picture");
  f.sparse("special", d.special, "places on its lines that are marked");
  f("rows", d.rows, "of cells");
}

void list_fields(auto& f, Of<Fact> auto& fact) {
  f("key", fact.key, "what it is");
  f("where", fact.where, "labels of its case or flow");
  f("words", fact.words, "for people, without the figure");
  f("unit", fact.unit, "SI: s, B/s; 1 for ratios");
  f("estimate", fact.estimate, "of several workers or hosts their median");
  f("heading", fact.heading, "of the summary; null: not shown there");
  f("line", fact.line, "in the summary, {} for the figure; null: a cell of a matrix");
  // Made of the others whenever it is written.
  std::string text, spread, claim;
  if (f.writes) {
    std::tie(text, spread) = figure_parts(fact);
    claim = claim_text(fact);
  }
  f.later("text", text, "the figure for people: 94.5 ns");
  f.later("spread", spread,
          "how well it is known: ±0.2 %, (20.0 to 150), of few visits ±0.2 %*; null where its text "
          "says it");
  f.later("claim", claim, "what is known of it beside these");
}

void list_fields(auto& f, Of<Headline> auto& one) {
  f("heading", one.heading, "of these facts");
  f("head", one.head, "the heading without sizes and pages");
  f("key", one.key, "of the fact in front; of cells the middle one of the nearest memory");
  f("name", one.name, "what this is in any run: gpu copy rate, gpu 0");
  f("where", one.where, "of which places, and by what");
  f("unit", one.unit, "of the fact in front, SI");
  f("estimate", one.estimate, "of the fact in front");
  f("text", one.text, "its value for people: 122 ns");
  f.sparse("spread", one.spread, "how well it is known: ±0.3 %, of few visits ±0.3 %*");
  f.sparse("brief", one.brief, "one line: what it is of, and the knee; of cells their ends");
  f.sparse("beside", one.beside, "the other figures of the heading");
  f("claim", one.claim, "what is known of the fact in front beside these");
  f.sparse("doubted", one.doubted, "of a run that is unreliable, or hardly known");
}

void list_fields(auto& f, Of<WorkerRow> auto& w) {
  f("rank", w.rank, "MPI rank, from 0");
  f("thread", w.thread, "thread within the rank");
  f("host", w.host, "index into the report's hosts");
  f("cpus", w.cpus, "CPUs it may run on (OS numbers)");
  f("cpu_node", w.cpu_node, "NUMA node of these; null when they span several");
  f("memory", w.memory, "placement asked for");
}

void list_fields(auto& f, Of<VectorWidth> auto& w) {
  f("kernel", w.kernel, "with the ratio of a mix");
  f("stores", w.stores, "regular or non-temporal; null for kernels that do not write");
  f("pages", w.pages, "asked for");
  f("workers", w.workers, "that ran it together; 0: all of the run");
  f("width", w.width, "bytes of a vector");
  f("tried", w.tried, "bytes of all that were compared");
}

template <class Fields>
void list_fields(Fields& f, Of<RunReport> auto& r) {
  f("version", r.version, "of numatlas");
  f("command", r.command, "of numatlas that measured this");
  f("arguments", r.arguments, "as given");
  f("started", r.started, "UTC, ISO 8601");
  f("seconds", r.seconds, "from start to end");
  f("complete", r.complete, "false: stopped, or still running");
  f("incomplete_reason", r.incomplete_reason, "why");
  f("comm", r.comm, "how ranks talk to each other");
  f("engine", r.engine, "what measured");
  f("isa", r.isa, "instruction set of the kernels");
  f("ranks", r.ranks, "MPI ranks");
  f("serial", r.serial, "workers one after the other");
  f("seed", r.seed, "of all random choices");
  f("precision", r.precision, "target: half width over value");
  f("time_cap", r.time_cap, "seconds per case, or in all");
  f("time_of_all", r.time_of_all, "time_cap is for all cases together");
  f("hosts", r.hosts, "names");
  f("machines", r.machines,
    "one per host, with host_rows one of each kind; as topology --format json prints it");
  f("cpu_use", r.cpu_use, "per host: CPUs used by others while measuring; empty where unknown");
  f("workers", r.workers, "who measured");
  f("cases", r.cases, "what was measured");
  // Few reports have it.
  if constexpr (Fields::writes) {
    if (!r.host_rows.empty()) f("host_rows", r.host_rows, "");
    if (!r.widths.empty()) f("vector_widths", r.widths, "");
    if (!r.answer.empty()) f("answer", r.answer, "");
    if (!r.trust.empty()) {
      f("trust", r.trust, "");
      f("doubt", r.doubt, "");
    }
  } else {
    f.later("host_rows", r.host_rows, "hosts of a run that was reduced to them, without workers");
    f.later("vector_widths", r.widths,
            "fastest vectors of kernels on memory, where they were tried");
    f.later("answer", r.answer, "what it found, in one line; of commands that judge");
    f.later("trust", r.trust,
            "trusted, doubtful or unreliable, as its first lines say; of what was measured");
    f.later("doubt", r.doubt, "the gravest one, in words; null where it is trusted");
  }
  f.later("pilots", r.pilots, "reference measurements, repeated throughout the run");
  f("views", r.views, "how it is to be shown");
  f("facts", r.facts, "what a survey's summary says of it");

  f("warnings", r.warnings, "what the whole run has to be read with");
}

// These have a reader and writer of their own (machine/source.h, machine/cpu_use.h).
void from_json(const nlohmann::json& value, const fields::Place& place, CpuUse& out);
nlohmann::json schema_of(fields::Tag<CpuUse>);
void from_json(const nlohmann::json& value, const fields::Place& place, Machine& out);
nlohmann::json schema_of(fields::Tag<Machine>);

// Passes stand by quantity: short to write, and what plots want.
nlohmann::json to_json(const std::vector<PassTimes>& passes);
void from_json(const nlohmann::json& value, const fields::Place& place,
               std::vector<PassTimes>& out);
nlohmann::json schema_of(fields::Tag<std::vector<PassTimes>>);

// What all flows of a case have alike stands once, in its "flow_common"; figures and workers stay
// with the flows. With a thousand workers that is a tenth.
nlohmann::json to_json(const Case& one);
void from_json(const nlohmann::json& value, const fields::Place& place, Case& out);
nlohmann::json schema_of(fields::Tag<Case>);

}  // namespace numatlas
