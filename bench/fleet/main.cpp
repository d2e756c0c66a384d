// What results of many hosts cost the rank that collects them, and how well slow hosts are found.
//   bench_fleet scale [--hosts 10000] [--ranks 128] [--rounds 10]
//   bench_fleet quality [--hosts 10000] [--rounds 10] [--seeds 20]
// Times of `scale` are made by reduce_pass over each host's processes, go the way of a run to rank
// 0 (run/gathering.h, over a communicator that is only played), and through the judgement and all
// writers. `quality` plants slow hosts, 1 % of all, and counts which are found.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/peers.h"
#include "benchmarks/parse.h"
#include "benchmarks/stream/summary.h"
#include "compare/results.h"
#include "machine/source.h"
#include "record/report_json.h"
#include "report/csv.h"
#include "report/dat.h"
#include "report/file.h"
#include "report/openmetrics.h"
#include "report/reporter.h"
#include "run/gathering.h"
#include "simulation.h"

namespace numatlas::simulation {
namespace {

struct Options {
  int hosts = 10000, ranks = 128, seeds = 1;
  std::size_t rounds = 10;
};

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Runs a stage and prints its seconds and the memory's peak so far.
void stage(const char* name, const std::function<std::string()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::string more = work();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{:<34} {:>8.3f} s  peak {:>7.1f} MiB  {}\n", name, seconds.count(), peak_mib(), more);
}

/// One host's passes of a round, from the times of its processes.
std::vector<PassTimes> passes_of(const RunReport& run, int host, const Options& options,
                                 std::mt19937_64& random) {
  std::vector<PassTimes> passes;
  std::vector<Sample> samples(static_cast<std::size_t>(options.ranks));
  std::vector<int> ranks(samples.size());
  for (const Case& one : run.cases) {
    const double bytes = *one.figures.front().value();
    const auto nanoseconds = static_cast<std::int64_t>(bytes / 3);  // 3 GB/s a process
    for (std::size_t i = 0; i < samples.size(); ++i) {
      ranks[i] = host * options.ranks + static_cast<int>(i);
      samples[i].start_ns = static_cast<std::int64_t>(random() % 20'000);
      samples[i].duration_ns =
          nanoseconds +
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(nanoseconds / 50));
      if (host == 17) samples[i].duration_ns += nanoseconds / 8;
    }
    passes.push_back(reduce_pass(samples, ranks));
  }
  return passes;
}

std::string name_of(int host) { return fmt::format("cn{:05}", host); }

HostWords words_of(int host, const Machine& machine, const Options& options) {
  const HostRow row = row_of_hosts(host, options.ranks);
  return {name_of(host), row, kind_of(machine, row.processes, row.workers), {}};
}

/// What every host says when it is met, its second text (its machine) left out.
std::vector<std::string> greetings(const Machine& machine, const Options& options) {
  std::vector<std::string> texts;
  for (int host = 0; host < options.hosts; ++host)
    texts.push_back(to_send(words_of(host, machine, options)));
  return texts;
}

std::vector<std::string> round_texts(const RunReport& run, const Options& options,
                                     std::mt19937_64& random) {
  std::vector<std::string> texts;
  for (int host = 0; host < options.hosts; ++host) {
    RecordingGroup group(host, options.hosts);
    RunReport unused;
    const auto passes = passes_of(run, host, options, random);
    (void)add_round(group, 0, passes, &HostTotals::passes, unused);
    texts.push_back(std::move(group.said.front()));
  }
  return texts;
}

std::string size_text(const std::string& text) {
  return fmt::format("{:.1f} MiB", static_cast<double>(text.size()) / mib);
}

int run_scale(const Options& options) {
  fmt::print("{} hosts x {} ranks, {} rounds of 4 kernels\n", options.hosts, options.ranks,
             options.rounds);
  RunReport run = empty_run();
  run.ranks = options.hosts * options.ranks;
  RootGroup root(options.hosts);
  SaidByHosts said;
  std::mt19937_64 random(1);
  double hosts_work = 0, roots_work = 0;
  const auto timed = [](double& sum, const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  // The first of its kind sends its whole machine along.
  const auto machine =
      read_recorded_machine("package:2 numa:4(memory=68719476736) l3:4(size=16777216) core:4 pu:2");
  if (!machine) {
    fmt::print(stderr, "{}\n", full_text(machine.error()));
    return 1;
  }
  timed(hosts_work, [&] { root.ready = greetings(*machine, options); });
  fmt::print("before the first result: peak {:.1f} MiB\n", peak_mib());
  stage("rank 0: meet", [&] {
    auto all = gather_fields(root, words_of(0, *machine, options));
    if (!all) return full_text(all.error());
    // The machines of the others stay away.
    root.ready.assign(static_cast<std::size_t>(options.hosts), to_send(std::optional<Machine>()));
    const auto met = meet_hosts(root, *std::move(all), *machine, run, said);
    return met ? fmt::format("{} kinds", run.machines.size()) : full_text(met.error());
  });
  for (std::size_t round = 0; round < options.rounds; ++round) {
    timed(hosts_work, [&] { root.ready = round_texts(run, options, random); });
    const auto mine = passes_of(run, 0, options, random);
    timed(roots_work, [&] { (void)add_round(root, 0, mine, &HostTotals::passes, run); });
  }
  fmt::print("{:<34} {:>8.3f} s  ({:.1f} us a host and round)\n", "all hosts: reduce_pass, send",
             hosts_work, hosts_work * 1e6 / options.hosts / static_cast<double>(options.rounds));
  fmt::print("{:<34} {:>8.3f} s  peak {:>7.1f} MiB\n", "rank 0: all rounds", roots_work,
             peak_mib());
  const auto benchmarks = all_benchmarks();
  const Benchmark& stream =
      *std::find_if(benchmarks.begin(), benchmarks.end(),
                    [](const Benchmark& one) { return one.name == "stream"; });
  stage("figures, who is slow", [&] {
    stream.figures.conclude(run);
    return run.answer;
  });
  stage("views", [&] {
    run.views = stream.shown.views(run);
    return fmt::format("{} views", run.views.size());
  });
  stage("table", [&] { return size_text(tables_text(run, {})); });
  stage("OpenMetrics", [&] { return size_text(report_openmetrics(run)); });
  std::string folder = (std::filesystem::temp_directory_path() / "bench_fleet.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const std::string path = folder + "/bench_fleet.json";
  stage(".dat", [&] { return size_text(dat_text(run)); });
  stage("CSV", [&] { return size_text(tidy_csv(run)); });
  stage("JSON", [&] {
    const std::string text = json_text(run);
    return write_whole(path, text, "bench") ? size_text(text) : "not written";
  });
  int code = 0;
  stage("check: read JSON", [&] {
    const auto read = read_stored(path);
    if (!read || !same_run(read->runs.front(), rows_of(run))) code = 1;
    return code == 0 ? "as it was" : "NOT as it was";
  });
  std::filesystem::remove_all(folder);
  return code;
}

void quality_rows(const char* name, const std::vector<Model>& models, const Options& options) {
  constexpr double severities[] = {0.03, 0.05, 0.08, 0.12, 0.20};
  const auto hosts = static_cast<std::size_t>(options.hosts);
  const std::size_t planted = std::max<std::size_t>(1, hosts / 100);
  for (const Model& model : models) {
    fmt::print("| {} | {:g} % |", name, model.noise * 100);
    std::size_t alarms = 0, named = 0;
    for (double severity : severities) {
      std::size_t found = 0;
      for (int seed = 0; seed < options.seeds; ++seed) {
        const Rows rows = make_rows(hosts, options.rounds, model, planted, severity,
                                    static_cast<std::uint64_t>(severity * 1e6 + model.noise * 1e3) +
                                        static_cast<std::uint64_t>(seed) * 1'000'003);
        for (const std::size_t host : judge_peers(hosts_of(rows), {}).slow_hosts())
          (host < planted ? found : alarms) += 1;
      }
      named += found;
      const auto all = static_cast<double>(planted) * options.seeds;
      fmt::print(" {:.1f} % |", 100 * static_cast<double>(found) / all);
    }
    named += alarms;
    const double share = named == 0 ? 0 : static_cast<double>(alarms) / static_cast<double>(named);
    const double fleets = static_cast<double>(std::size(severities)) * options.seeds;
    fmt::print(" {:.2f} | {:.2f} % |\n", static_cast<double>(alarms) / fleets, 100 * share);
    std::fflush(stdout);
  }
}

int run_quality(const Options& options) {
  fmt::print(
      "{} hosts, 4 kernels, {} rounds, 1 % of the hosts slow, {} fleets a cell; rule: {}\n\n",
      options.hosts, options.rounds, options.seeds, to_text(SlowRule{}));
  fmt::print(
      "| fleet | noise of a pass | 3 % slow | 5 % | 8 % | 12 % | 20 % | false alarms a fleet "
      "| of those named |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  std::vector<Model> normal, tails, drift, uneven, heavy, rounds;
  for (double noise : {0.005, 0.01, 0.02, 0.05}) {
    normal.push_back({noise, 0.005, 0, 0});
    tails.push_back({noise, 0.005, 0.1, 0});
    rounds.push_back({noise, 0.005, 0, 0, false, 0.1});
    drift.push_back({noise, 0.005, 0, 0.15});
    uneven.push_back({noise, 0.02, 0, 0});
    heavy.push_back({noise, 0.005, 0, 0, true});
  }
  quality_rows("normal noise", normal, options);
  quality_rows("one pass in ten disturbed", tails, options);
  quality_rows("one round in ten disturbed in all kernels", rounds, options);
  quality_rows("all 15 % slower at the end", drift, options);
  quality_rows("hosts 2 % apart", uneven, options);
  quality_rows("hosts differ with heavy tails (t3)", heavy, options);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("Results of many hosts: what they cost rank 0, and which slow ones are found.");
  Options options;
  app.require_subcommand(1);
  CLI::App* scale = app.add_subcommand("scale", "seconds and memory by stage");
  CLI::App* quality = app.add_subcommand("quality", "found slow hosts and false alarms");
  for (CLI::App* sub : {scale, quality}) {
    sub->add_option("--hosts", options.hosts)->check(CLI::Range(1, 1'000'000));
    sub->add_option("--rounds", options.rounds)->check(CLI::Range(1, 100'000));
  }
  quality->add_option("--seeds", options.seeds, "fleets of each cell")
      ->check(CLI::Range(1, 10'000));
  scale->add_option("--ranks", options.ranks, "of each host")->check(CLI::Range(1, 100'000));
  CLI11_PARSE(app, argc, argv);
  return scale->parsed() ? run_scale(options) : run_quality(options);
}

}  // namespace
}  // namespace numatlas::simulation

int main(int argc, char** argv) { return numatlas::simulation::run(argc, argv); }
