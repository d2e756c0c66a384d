// The fields of the rounds of hosts (record/fields.h), as files hold them and as hosts tell rank 0
// of themselves.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "record/fields.h"
#include "record/fleet.h"

namespace numatlas {

namespace record {
template <>
struct EnumNames<Verdict> {
  using enum Verdict;
  static constexpr EnumName<Verdict> values[] = {
      {suspected, "suspected"}, {confirmed, "confirmed"}, {not_confirmed, "not_confirmed"}};
};
template <>
struct EnumNames<Evidence> {
  using enum Evidence;
  static constexpr EnumName<Evidence> values[] = {
      {interval, "interval"}, {range, "range"}, {none, "none"}};
};
}  // namespace record

using record::Of;

void list_fields(auto& f, Of<HostKind> auto& k) {
  f("cpu_model", k.cpu_model, "as the kernel calls it");
  f("os", k.os, "name and release of the kernel");
  f("cpus", k.cpus, "CPUs of the host");
  f("nodes", k.nodes, "NUMA nodes of the host");
  f("memory", k.memory, "bytes of all nodes, rounded to whole GiB");
  f("processes", k.processes, "ranks on the host");
  f("workers", k.workers, "threads of all of them");
}
std::string problem_of(const HostKind& kind);

void list_fields(auto& f, Of<FleetKernel> auto& k) {
  f("name", k.name, "copy, scale, add, triad, read, write");
  f("mode", k.mode, "memory, or of persistent memory how it is made to last");
  f("stores", k.stores, "regular, non-temporal; null for a kernel that only reads");
  f("bytes", k.bytes, "of one process in one pass, as STREAM counts them");
  f("moved", k.moved, "with the lines that regular stores fetch first");
}

void list_fields(auto& f, Of<ProcessRounds> auto& p) {
  f("rank", p.rank, "global");
  f("starts", p.starts, "by kernel, then round: seconds after the host's first process");
  f("seconds", p.seconds, "by kernel, then round");
}

void list_fields(auto& f, Of<HostSummary> auto& s) {
  f("average", s.average, "seconds of its processes, over all rounds");
  f("minimum", s.minimum, "seconds of the host, over the rounds");
  f("maximum", s.maximum, "seconds of the host, over the rounds");
}

void list_fields(auto& f, Of<FleetHost> auto& h) {
  f("name", h.name, "of the host");
  f("kind", h.kind, "index into kinds");
  f("first_rank", h.first_rank, "global rank of its first process");
  f("rounds", h.rounds, "by kernel: times of every round; the first one warms up");
  f("summaries", h.summaries, "by kernel, of files without rounds; else empty");
  f("processes", h.processes, "rounds of every process (--samples); else empty");
  f("placement", h.placement, "where its memory was, as observed");
  f("cpu_use", h.cpu_use, "CPUs used by others while the rounds ran");
  f("warnings", h.warnings, "what its figures have to be read with");
}

void list_fields(auto& f, Of<Retest> auto& r) {
  f("hosts", r.hosts, "suspects and healthy hosts, run again");
}

void list_fields(auto& f, Of<SlowRule> auto& r) {
  f("mads", r.mads, "scaled median absolute deviations below the median of its kind");
  f("drop", r.drop, "part below that median, in one kernel");
  f("drop_together", r.drop_together, "the same in all kernels together");
}

void list_fields(auto& f, Of<SlowKernel> auto& k) {
  f("kernel", k.kernel, "index into kernels");
  f("rate", k.rate, "B/s, the host's median");
  f("median", k.median, "B/s, of the hosts of its kind");
  f("drop", k.drop, "part by which it is below");
  f("mads", k.mads, "scaled median absolute deviations by which it is below");
  f("rounds", k.rounds, "that count");
  f("slow_rounds", k.slow_rounds, "rounds that were slow");
  f("evidence", k.evidence, "what says that it is slow in more than a moment");
}

void list_fields(auto& f, Of<SlowTogether> auto& t) {
  f("drop", t.drop, "part by which the median over the kernels is below");
  f("mads", t.mads, "scaled median absolute deviations by which it is below");
  f("rounds", t.rounds, "that count");
  f("slow_rounds", t.slow_rounds, "rounds that were slow");
}

void list_fields(auto& f, Of<SlowHost> auto& h) {
  f("host", h.host, "index into hosts");
  f("peers", h.peers, "hosts of its kind that were compared, itself included");
  f("kernels", h.kernels, "in which it is slow by itself, the largest drop first");
  f("together", h.together, "all kernels together; null where they do not show it");
  f("verdict", h.verdict, "of the retest");
}

void list_fields(auto& f, Of<SlowReport> auto& r) {
  f("rule", r.rule, "from when on a host is slow");
  f("hosts", r.hosts, "the slow ones, the largest drop first");
  f("judged", r.judged, "number of hosts that were compared with others");
  f("unjudged", r.unjudged, "the other hosts: indices into hosts");
  f("not_judged", r.not_judged, "why, in words");
}

void list_fields(auto& f, Of<Fleet> auto& r) {
  f("clock_error", r.clock_error,
    "seconds by which a host's clock may have been off that of rank 0's host");
  f("elements", r.elements, "of each of the three arrays of a process, 8 bytes each");
  f("elements_source", r.elements_source, "why so many");
  f("repeats", r.repeats, "rounds asked for, the first one included");
  f("memory", r.memory, "placement asked for");
  f("kernels", r.kernels, "what a round consists of");
  f("kinds", r.kinds, "hosts of one kind are compared with each other; machines has one of each");
  f("slow", r.slow, "which hosts are slow; null until they were compared");
  f("hosts", r.hosts, "what each host measured");
  f("retest", r.retest, "slow hosts run again (--retest)");
}
/// What its fields must have in common, as "field '...' ..."; "" where they have.
std::string inconsistency_of(const Fleet& fleet);

/// With all digits: what is computed from a file is what was computed here.
nlohmann::json to_json(const Fleet& fleet);

// Rounds of a kernel stand by quantity, then round: short to write, and what plots want.
nlohmann::json to_json(const std::vector<PassTimes>& rounds);
void from_json(const nlohmann::json& value, const record::Place& place,
               std::vector<PassTimes>& out);
nlohmann::json schema_of(record::Tag<std::vector<PassTimes>>);

}  // namespace numatlas
