#include "legacy/numa_xfer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "base/fill.h"
#include "base/whole.h"
#include "legacy/program.h"
#include "run/declare.h"

namespace numatlas::legacy {
namespace {

/// How it says what `numatlas copy` says.
const OwnWords numa_xfer_words{{{"--from", "--src_nodes"},
                                {"--to", "--dst_nodes"},
                                {"--size", "--benchmark_bytes"},
                                {"--threads", "--num_threads"}}};

struct Words {
  std::string source_nodes, target_nodes, bytes, iterations, threads = "1";
};

void declare(CLI::App& app, Words& words) {
  app.name("numa_numa_xfer_bench");
  const auto needed = [&](const char* name, std::string& value, const char* type,
                          const char* what) {
    add_value(app, name, value, type, what)->required();
  };
  needed("--src_nodes", words.source_nodes, "NODES",
         "nodes of the buffer copied from, such as 0,1 or 0-3");
  needed("--dst_nodes", words.target_nodes, "NODES", "nodes of the buffer copied to");
  needed("--benchmark_bytes", words.bytes, "BYTES",
         "bytes that all threads together copy; each copies whole lines of 64 bytes, at least two");
  needed("--iterations_per_bench", words.iterations, "N",
         "only printed: the measurement ends when the result is precise enough");
  add_value(app, "--num_threads", words.threads, "N", "number of threads");
  app.footer("`numatlas copy` measures the same with more options.");
}

/// The list as it is written.
Expected<std::string> nodes(const std::string& text, const char* option) {
  const auto list = parse_list<NodeId>(text);
  if (list && !list->empty()) return text;
  return fail_usage(option, fmt::format("'{}' is not a list of nodes", text), "such as 0,1 or 0-3");
}

Expected<NumaXfer> read(const Words& words) {
  // What CPUs and memory there is decides; this only keeps the numbers in their types.
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;
  constexpr int most = std::numeric_limits<int>::max();
  NumaXfer asked;
  const auto filled = first_error(
      {fill(asked.source_nodes, nodes(words.source_nodes, "--src_nodes")),
       fill(asked.target_nodes, nodes(words.target_nodes, "--dst_nodes")),
       fill(asked.bytes,
            parse_whole<std::uint64_t>(words.bytes, 1, most_bytes, "--benchmark_bytes")),
       fill(asked.iterations, parse_whole(words.iterations, 1, most, "--iterations_per_bench")),
       fill(asked.threads, parse_whole(words.threads, 1, most, "--num_threads"))});
  if (!filled) return fail(filled.error());
  return asked;
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
      report.scenarios.empty() ? nullptr : find_total(report.scenarios.front(), "copy_rate");
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
  Words given;
  declare(app, given);
  if (const auto ended = parse_program(app, words)) return *ended;
  const auto asked = read(given);
  if (!asked) return end_with_error(asked.error());
  return run_alone(
      translated_run("copy", copy_words(*asked)), numa_xfer_words,
      plain_hooks([&](const RunReport& report) { return numa_xfer_text(*asked, report); }));
}

}  // namespace numatlas::legacy
