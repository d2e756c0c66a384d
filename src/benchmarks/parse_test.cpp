#include "benchmarks/parse.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "benchmarks/test_plan.h"

namespace numatlas {
namespace {

using ::testing::StartsWith;

TEST(ParseRun, EveryOptionArrives) {
  const auto words = testing::typed(
      "--cpus 1-3 --threads 2 --memory weighted:0=3,2=1 --pages base,2M --strict --serial "
      "--precision 0.5% --time 3s --seed 7 --verify full --skip-too-large --format json "
      "--json /tmp/x --stats -q");
  const auto run = parse_run("latency", words);
  ASSERT_TRUE(run) << full_text(run.error());
  const RunOptions& o = run->options;
  EXPECT_FALSE(o.placement.cpus.is_default);
  EXPECT_EQ(o.placement.cpus.form, CpuSpec::Form::list);
  EXPECT_EQ(o.placement.threads, 2);
  ASSERT_TRUE(o.placement.memory);
  EXPECT_EQ(o.placement.memory->single.text(), "weighted:0=3,2=1");
  EXPECT_EQ(o.pages, (std::vector<PageKind>{PageKind::base, PageKind::huge_2m}));
  EXPECT_DOUBLE_EQ(o.precision, 0.005);
  EXPECT_EQ(o.stop.time, std::chrono::seconds(3));
  EXPECT_EQ(o.seed, 7U);
  EXPECT_EQ(o.verify, Verify::full);
  EXPECT_EQ(o.format, "json");
  EXPECT_EQ(o.json_file, "/tmp/x");
  EXPECT_TRUE(o.strict && o.serial && o.quiet && o.style.stats && o.skip_too_large);
  EXPECT_EQ(o.arguments, words);
}

/// What is refused before anything is measured, and what tests/golden/bad_input.txt does not have.
TEST(ParseRun, WhatIsRefusedNamesItsOption) {
  const struct {
    const char *command, *line, *message;
  } cases[] = {
      {"latency", "--threads 2x", "--threads: '2x'"},
      {"latency", "--threads 99999999999", "--threads: '99999999999'"},
      {"latency", "--memory bin:0", "--memory: 'bin:0'"},
      {"latency", "--memory gpu:x", "--memory: 'gpu:x'"},
      {"latency", "--memory bind:", "--memory: 'bind:' names no node"},
      {"latency", "--precision 200%", "--precision: '200%'"},
      {"latency", "--precision nan", "--precision: 'nan'"},
      {"latency", "--precision %", "--precision: '%'"},
      {"latency", "--seed 18446744073709551616", "--seed: "},
      {"latency", "--stride 0", "--stride: '0' must be greater than 0"},
      {"latency", "--stride x", "--stride: 'x'"},
      {"latency", "--stride 64,100", "--stride: 100 B is not a multiple of 8 bytes"},
      {"latency", "--stride 64,256 --chains 1-4", "--stride: one goes with --chains"},
      {"latency", "--stride 64,256 --tail", "--stride: one goes with --tail"},
      {"latency", "--chains 0", "--chains: '0'"},
      {"latency", "--chains 65", "--chains: '65' is not a whole number from 1 to 64"},
      {"latency", "--chains 1-65", "--chains: '1-65'"},
      {"latency", "--tail --chains 1-4", "--tail: does not go with --chains"},
      {"latency", "--tail --tail-group 0", "--tail-group: '0'"},
      {"latency", "--tail --tail-group 65", "--tail-group: '65'"},
      {"latency", "--tail-group 4", "--tail-group requires --tail"},
      {"latency", "--tail --on gpu:0", "--tail: applies only to CPUs"},
      {"latency", "--engine null --noise ar1:tau=1s,sd=5%",
       "--noise: 'ar1:tau=1s,sd=5%' is not one of lognormal=PART, delays:share=PART,by=TIME"},
      {"latency", "--engine null --noise delays:share=1%", "--noise: 'delays:share=1%' is not"},
      {"latency", "--engine null --noise delays:share=x,by=1us", "--noise: 'x' is not a fraction"},
      {"latency", "--engine null --noise delays:share=1%,by=x", "--noise: 'x' "},
      {"latency", "--engine null --noise lognormal=nan", "--noise: 'nan' is not a fraction"},
      {"bandwidth", "--stores nontemporal", "--stores: 'nontemporal' is not one of regular"},
      {"loaded", "--rates fast", "--rates: 'fast' is not a rate"},
      {"loaded", "--rates=-1", "--rates: '-1' is not a rate"},
      {"loaded", "--rates 1,", "--rates: '' is not a rate"},
      {"loaded", "--order up", "--order: 'up'"},
      {"loaded", "--size 1,2", "--size: loaded accepts one size"},
      {"tlb", "--page-counts 1", "--page-counts: '1' is not a whole number from 2"},
      {"tlb", "--page-counts 16-8", "--page-counts: '8' is not a whole number from 16"},
      {"tlb", "--page-counts 8-", "--page-counts: ''"},
      {"tlb", "--page-counts 99999999", "--page-counts: '99999999'"},
      {"tlb", "--threads 1-2", "--threads: tlb accepts one number"},
      {"matrix", "--only both", "--only: 'both' is not one of latency, bandwidth"},
      {"matrix", "--only latency --mix none", "--mix: --only latency"},
      {"matrix", "--stores regular --only latency", "--stores: --only latency"},
      {"transfer", "--measure copies --chase-size 1MiB",
       "--chase-size: --measure leaves out the only measurement that uses it; add chase"},
      {"transfer", "--measure chase --latency-size 4KiB",
       "--latency-size: --measure leaves out the only measurement that uses it; add latency"},
      {"atomics", "--cpus 0 --threads 2", "atomics: two workers are on CPU 0"},
      {"atomics", "--home 0 --memory bind:1", "--home and --memory both place the counters"},
      {"atomics", "--home near", "--home: 'near' is not first, all or a list of nodes"},
      {"atomics", "--home 7", "--home: this machine has no NUMA node 7"},
      {"cores", "--lines 0", "--lines: '0'"},
      {"cores", "--lines 4097", "--lines: '4097'"},
      {"cores", "--home 0,1", "--home: '0,1' is not first, second or a node"},
      {"faults", "--serial", "--serial: faults measures its threads together"},
      {"faults", "--cpus 0 --threads 2", "faults: two workers are on CPU 0"},
      {"faults", "--nodes 0,5", "--nodes: this machine has no NUMA node 5"},
      {"faults", "--nodes 0 --memory bind:1", "--nodes and --memory both place the memory"},
      {"migrate", "--from 1 --to 1", "--to: names the same node as --from"},
      {"random", "--access 8,512", "--access: '512' is not 8"},
      {"random", "--pattern uniform:8:1 --delta 0", "--delta: '0'"},
      {"random", "--pattern uniform:8:1 --access 8", "--access: does not go with --pattern"},
      {"stream", "--elements 10000 --persist none", "--persist: this memory is not persistent"},
      {"stream", "--time 2s", "stream: unknown option '--time'; --repeats says how many rounds"},
  };
  for (const auto& [command, line, message] : cases) {
    const auto plan =
        testing::plan_on(command, testing::typed(line),
                         "numa:2(memory=34359738368) l3:1(size=16777216) core:2 pu:1");
    ASSERT_FALSE(plan) << command << " " << line;
    EXPECT_THAT(with_hint(full_text(plan.error()), plan.error()), StartsWith(message)) << line;
  }
}

TEST(ParseRun, HelpHasNoOptionThatIsAlwaysRefused) {
  for (auto& benchmark : all_benchmarks()) {
    const std::string name = benchmark.name;
    const std::vector<Refusal> refused = benchmark.options.refused;
    CLI::App app;
    RunParser parser(std::move(benchmark));
    parser.add_to(app);
    for (const Refusal& one : refused)
      EXPECT_EQ(app.help().find(one.option + " ") != std::string::npos, one.several)
          << name << " " << one.option;
  }
}

TEST(ParseRun, StoresAsTablesNameThem) {
  // Where there are no such stores, that is the error, not the word.
  const auto parsed = parse_run("bandwidth", {"--stores", "regular,nt"});
  EXPECT_TRUE(parsed || parsed.error().kind == ErrorKind::unavailable);
}

}  // namespace
}  // namespace numatlas
