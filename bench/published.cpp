// What the verdicts of src/published are worth: each machine of data/cloud.csv and each GPU of
// data/gpus.csv is left out of its table and judged by the others: as it is, and as if it had lost
// a part of its speed.
//
//   bench_published            a few seconds; docs/published.md has what it prints
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "published/normal.h"

namespace {

using namespace numatlas;

constexpr double losses[] = {0, 0.2, 0.3, 0.5};

struct Count {
  int rows = 0;    ///< that have a figure
  int known = 0;   ///< of them, that get a verdict where their own row counts as one like it
  int judged = 0;  ///< that get a verdict without it
  int others = 0;  ///< of these, by figures of another program than their own
  int low[std::size(losses)] = {};
};

const PublishedTable& table_of(const Published& published, const std::string& file) {
  for (const PublishedTable& table : published.tables)
    if (table.file == file) return table;
  return published.tables.front();
}

/// A run of such a machine, or of one with such a GPU, that gave this.
RunHead run_of(const PublishedRow& row) {
  RunHead run;
  run.hosts = {"host"};
  Machine& machine = run.machines.emplace_back();
  machine.cpu_model = row.processor;
  machine.hypervisor = "KVM";
  machine.identity.provider = row.provider;
  const int cpus = row.cpus.value_or(1);
  CpuSet all;
  for (int id = 0; id < cpus; ++id) {
    Cpu& cpu = machine.cpus.emplace_back();
    cpu.id = CpuId{id};
    if (row.threads_per_core) cpu.core = id / *row.threads_per_core;
    all.insert(cpu.id);
  }
  if (row.cache_mib)
    machine.caches.push_back(
        {3, "unified", Bytes{static_cast<std::uint64_t>(*row.cache_mib) * mib}, std::nullopt, all});
  if (row.gpu.empty()) return run;
  constexpr double speeds[] = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
  Gpu& gpu = machine.gpus.emplace_back();
  gpu.index = 0;
  gpu.name = row.gpu;
  const auto speed = [&](int generation) { return speeds[generation - 1]; };
  // As sysfs says it: the most is of the GPU alone.
  gpu.path.push_back({"", PciLink{speed(*row.link_generation),
                                  speed(row.gpu_link_generation.value_or(*row.link_generation)),
                                  row.link_width, row.gpu_link_width}});
  return run;
}

const char* fact_of(const std::string& key) {
  return key == "gpu_load" ? "gpu_latency" : key == "gpu_copy" ? "gpu_copy" : "gpu_copy_rate";
}

/// One figure of a row with a loss, judged.
Normal judged(const PublishedRow& row, const PublishedFigure& figure, double loss,
              const Published& published) {
  RunHead run = run_of(row);
  const bool lower = figure.unit.better() == Better::lower;
  const double value = lower ? figure.middle() / (1 - loss) : figure.middle() * (1 - loss);
  AllReads reads;
  if (row.gpu.empty())
    reads.rate = Estimate(value);
  else
    run.facts = {{fact_of(figure.key), {{"gpu", "0"}}, "", figure.unit, Estimate(value), "", ""}};
  if (!row.gpu.empty() && run.facts.front().key == "gpu_copy_rate")
    run.facts.front().where.emplace_back("direction", figure.key);
  const auto all = judge_figures(run, reads, "", published);
  return all.empty() ? Normal{"", figure.unit, Estimate(value)} : all.front();
}

void count(const PublishedRow& row, const PublishedFigure& figure, const Published& with,
           const Published& without, Count& one) {
  ++one.rows;
  one.known += judged(row, figure, 0, with).verdict != Normal::Verdict::none ? 1 : 0;
  for (std::size_t i = 0; i < std::size(losses); ++i) {
    const Normal held = judged(row, figure, losses[i], without);
    if (i == 0 && held.verdict == Normal::Verdict::none) return;  // nor with a loss
    if (i == 0) ++one.judged;
    if (i == 0 && !held.group.ends_with(row.program)) ++one.others;
    one.low[i] += held.verdict == Normal::Verdict::low ? 1 : 0;
  }
}

void print(const std::string& name, const Count& one) {
  const auto part = [](int some, int all) {
    return all == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * some / all);
  };
  fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", name, one.rows, part(one.known, one.rows),
             part(one.low[0], one.judged), part(one.low[1], one.judged),
             part(one.low[2], one.judged), part(one.low[3], one.judged));
}

/// Only the tables of this file, with one row less.
void leave_one_out(const std::string& file, const std::vector<std::string>& keys, bool by_key) {
  Published with;
  const PublishedTable table = table_of(with, file);
  with.tables = {table};
  Published without = with;
  // The machine's own row, which is left out, counts as one like it.
  --without.least;
  std::map<std::string, Count> counts;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    auto& rows = without.tables.front().rows;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    for (const std::string& key : keys) {
      const PublishedFigure* const figure = table.rows[i].figure(key);
      if (figure == nullptr) continue;
      count(table.rows[i], *figure, with, without, counts[by_key ? key : table.rows[i].provider]);
      count(table.rows[i], *figure, with, without, counts["~all"]);
    }
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(i), table.rows[i]);
  }
  fmt::print(
      "\n| {} | rows | get a verdict | alarms as they are | LOW at -20 % | -30 % | -50 % |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
      file);
  for (const auto& [name, one] : counts) print(name == "~all" ? "all" : name, one);
  if (const Count& all = counts["~all"]; all.others > 0)
    fmt::print("held against another program's figures: {:.1f} %\n",
               100.0 * all.others / all.judged);
}

}  // namespace

int main() {
  const auto start = std::chrono::steady_clock::now();
  const Published published;
  const auto read = std::chrono::steady_clock::now();
  const PublishedRow& row = table_of(published, "data/cloud.csv").rows.front();
  judged(row, row.figures.front(), 0, published);
  const auto end = std::chrono::steady_clock::now();
  const auto ms = [](auto time) { return 1e3 * std::chrono::duration<double>(time).count(); };
  fmt::print("reading the tables {:.2f} ms, judging a figure {:.3f} ms\n", ms(read - start),
             ms(end - read));
  leave_one_out("data/cloud.csv", {"read"}, false);
  leave_one_out("data/gpus.csv", {"h2d", "d2h", "both", "gpu_load", "gpu_copy"}, true);
  return 0;
}
