// What files hold of a fleet, and what hosts tell rank 0 of themselves: one list of fields for each
// type (record/fields.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "record/report_fields.h"

namespace numatlas {

template <class Fields>
void list_fields(Fields& f, Host<Fields, HostKind>& k) {
  f("cpu_model", k.cpu_model, "as the kernel calls it");
  f("os", k.os, "name and release of the kernel");
  f("cpus", k.cpus, "CPUs of the host");
  f("nodes", k.nodes, "NUMA nodes of the host");
  f("memory", k.memory, "bytes of all nodes, rounded to whole GiB");
  f("processes", k.processes, "ranks on the host");
  f("workers", k.workers, "threads of all of them");
}
std::string problem_of(const HostKind& kind);

template <class Fields>
void list_fields(Fields& f, Host<Fields, FleetKernel>& k) {
  f("name", k.name, "copy, scale, add, triad, read, write");
  f("mode", k.mode, "memory, or of persistent memory how it is made to last");
  f("stores", k.stores, "ordinary, non-temporal; null for a kernel that only reads");
  f("bytes", k.bytes, "of one process in one pass, as STREAM counts them");
  f("moved", k.moved, "with the lines that ordinary stores fetch first");
}

template <class Fields>
void list_fields(Fields& f, Host<Fields, ProcessRounds>& p) {
  f("rank", p.rank, "global");
  f("starts", p.starts, "by kernel, then round: seconds after the host's first process");
  f("seconds", p.seconds, "by kernel, then round");
}

template <class Fields>
void list_fields(Fields& f, Host<Fields, HostSummary>& s) {
  f("average", s.average, "seconds of its processes, over all rounds");
  f("minimum", s.minimum, "seconds of the host, over the rounds");
  f("maximum", s.maximum, "seconds of the host, over the rounds");
}

template <class Fields>
void list_fields(Fields& f, Host<Fields, FleetHost>& h) {
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

template <class Fields>
void list_fields(Fields& f, Host<Fields, Retest>& r) {
  f("hosts", r.hosts, "suspects and healthy hosts, run again");
}

/// All but the machines and hosts, of which there may be many.
template <class Fields>
void list_head(Fields& f, Host<Fields, Fleet>& r) {
  f("version", r.version, "of numatlas");
  f("command", r.command, "stream");
  f("arguments", r.arguments, "as given");
  f("started", r.started, "UTC, ISO 8601");
  f("seconds", r.seconds, "from start to end");
  f("complete", r.complete, "false: stopped, or still running");
  f("incomplete_reason", r.incomplete_reason, "why");
  f("comm", r.comm, "how ranks talk to each other");
  f("engine", r.engine, "what measured");
  f.later("clock_error", r.clock_error,
          "seconds by which a host's clock may have been off that of rank 0's host");
  f("isa", r.isa, "instruction set of the kernels");
  f("ranks", r.ranks, "MPI ranks");
  f("elements", r.elements, "of each of the three arrays of a process, 8 bytes each");
  f("elements_source", r.elements_source, "why so many");
  f("repeats", r.repeats, "rounds asked for, the first one included");
  f("memory", r.memory, "placement asked for");
  f("kernels", r.kernels, "what a round consists of");
  f("kinds", r.kinds, "hosts of one kind are compared with each other");
  f("warnings", r.warnings, "what the whole run has to be read with");
}

template <class Fields>
void list_fields(Fields& f, Host<Fields, Fleet>& r) {
  list_head(f, r);
  f("machines", r.machines, "the first host of each kind, as topology --format json prints it");
  f("hosts", r.hosts, "what each host measured");
  f("retest", r.retest, "slow hosts run again (--retest)");
}

// Rounds of a kernel stand by quantity, then round: short to write, and what plots want.
nlohmann::json to_json(const std::vector<PassTimes>& rounds);
void from_json(const nlohmann::json& value, const record::Place& place,
               std::vector<PassTimes>& out);
nlohmann::json schema_of(record::Tag<std::vector<PassTimes>>);

}  // namespace numatlas
