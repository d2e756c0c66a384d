// numa_numa_xfer_bench: copies between nodes with the command line and the output of the extension
// numa-numa-xfer-bench of numa-gpu-xfer-bench.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "legacy/programs.h"
#include "run/declare.h"

namespace numatlas::legacy {
namespace {

/// How it says what `numatlas copy` says.
const OwnWords numa_xfer_words{{{"--from", "--src_nodes"},
                                {"--to", "--dst_nodes"},
                                {"--size", "--benchmark_bytes"},
                                {"--threads", "--num_threads"}}};

/// The list as it is written.
Expected<std::string> nodes(const std::string& text) {
  const auto list = parse_list<NodeId>(text);
  if (list && !list->empty()) return text;
  return fail(ErrorKind::usage, fmt::format("'{}' is not a list of nodes", text),
              "such as 0,1 or 0-3");
}

void declare(CLI::App& app, NumaXfer& asked) {
  // What CPUs and memory there is decides; this only keeps the numbers in their types.
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;
  constexpr int most = std::numeric_limits<int>::max();
  app.name("numa_numa_xfer_bench");
  add_parsed(app, "--src_nodes", asked.source_nodes, "", "NODES",
             "nodes of the buffer copied from, such as 0,1 or 0-3", nodes)
      ->required();
  add_parsed(app, "--dst_nodes", asked.target_nodes, "", "NODES", "nodes of the buffer copied to",
             nodes)
      ->required();
  add_parsed(
      app, "--benchmark_bytes", asked.bytes, "", "BYTES",
      "bytes that all threads together copy; each copies whole lines of 64 bytes, at least two",
      whole<std::uint64_t>(1, most_bytes))
      ->required();
  add_parsed(app, "--iterations_per_bench", asked.iterations, "", "N",
             "only printed: the measurement ends when the result is precise enough", whole(1, most))
      ->required();
  add_parsed(app, "--num_threads", asked.threads, "1", "N", "number of threads", whole(1, most));
  app.footer("`numatlas copy` measures the same with more options.");
}

}  // namespace

std::vector<std::string> copy_words(const NumaXfer& asked) {
  // A line a thread at least, and whole lines, which is what the copy moves.
  constexpr std::uint64_t line = 64;
  const auto threads = static_cast<std::uint64_t>(asked.threads);
  const std::uint64_t part = std::max(2 * line, asked.bytes / threads / line * line);
  const auto interleaved = [](const std::string& list) {
    return "interleave:" + to_list(*parse_list<NodeId>(list));
  };
  return {"--from",    interleaved(asked.source_nodes),
          "--to",      interleaved(asked.target_nodes),
          "--side",    "any",
          "--threads", std::to_string(asked.threads),
          "--size",    fmt::format("{}B", part),
          "--mpi",     "none"};
}

std::string numa_xfer_text(const NumaXfer& asked, const RunReport& report) {
  const Figure* rate =
      report.cases.empty() ? nullptr : find_total(report.cases.front(), "copy_rate");
  const auto bytes = static_cast<double>(asked.bytes);
  const bool known = rate != nullptr && rate->value() && *rate->value() > 0;
  return fmt::format(
      "--- Configuration ---\n"
      "Source Nodes: {}\n"
      "Destination Nodes: {}\n"
      "Buffer Size: {:g} MiB\n"
      "Iterations: {}\n"
      "OpenMP Threads: {}\n"
      "---------------------\n"
      "--- Results ---\n"
      "Average Latency: {} ms\n"
      "Average Bandwidth: {} GiB/s\n"
      "---------------\n",
      asked.source_nodes, asked.target_nodes, bytes / mib, asked.iterations, asked.threads,
      known ? fmt::format("{:.3f}", bytes / *rate->value() * 1e3) : "-",
      known ? fmt::format("{:.3f}", *rate->value() / gib) : "-");
}

int numa_xfer(const std::vector<std::string>& words) {
  CLI::App app("Bandwidth of copies between the memory of NUMA nodes.");
  NumaXfer asked;
  declare(app, asked);
  if (const auto ended = parse_program(app, words)) return *ended;
  return run_alone(
      translated_run("copy", copy_words(asked)), numa_xfer_words,
      plain_hooks([&](const RunReport& report) { return numa_xfer_text(asked, report); }));
}

}  // namespace numatlas::legacy
