#include "benchmarks/parse.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

/// The error of these words, or "" when they are fine.
std::string problem(const Words& words) {
  const auto run = parse_run("latency", words);
  if (run) return "";
  EXPECT_EQ(run.error().kind, ErrorKind::usage);
  return full_text(run.error());
}

TEST(ParseRun, DefaultsAreTheDocumentedOnes) {
  const auto run = parse_run("latency", {});
  ASSERT_TRUE(run);
  const RunOptions& o = run->options;
  EXPECT_EQ(o.command, "latency");
  EXPECT_TRUE(o.placement.cpus.is_default);
  EXPECT_FALSE(o.placement.threads);
  EXPECT_FALSE(o.placement.memory);
  EXPECT_TRUE(o.pages.empty());  // as the machine gives them
  EXPECT_DOUBLE_EQ(o.precision, 0.01);
  EXPECT_EQ(o.seed, 1U);
  EXPECT_EQ(o.format, "table");
  EXPECT_FALSE(o.strict || o.serial || o.dry_run || o.quiet || o.style.stats || o.skip_too_large);
}

TEST(ParseRun, EveryOptionArrives) {
  const Words words{"--cpus",
                    "1-3",
                    "--threads",
                    "2",
                    "--memory",
                    "weighted:0=3,2=1",
                    "--pages",
                    "base,2M",
                    "--strict",
                    "--serial",
                    "--precision",
                    "0.5%",
                    "--time",
                    "3s",
                    "--seed",
                    "7",
                    "--verify",
                    "full",
                    "--skip-too-large",
                    "--format",
                    "json",
                    "--json",
                    "/tmp/x",
                    "--stats",
                    "-q"};
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

TEST(ParseRun, BadValuesNameTheirOption) {
  const struct {
    Words words;
    const char* message;
  } cases[] = {
      {{"--threads", "0"}, "--threads: '0' is not a whole number from 1"},
      {{"--threads", "-1"}, "--threads: '-1'"},
      {{"--threads", "2x"}, "--threads: '2x'"},
      {{"--threads", "99999999999"}, "--threads: '99999999999'"},
      {{"--cpus", "a"}, "--cpus: "},
      {{"--cpus", "3-1"}, "--cpus: the range '3-1'"},
      {{"--memory", "nowhere"}, "--memory: "},
      {{"--memory", "bin:0"}, "--memory: 'bin:0'"},
      {{"--memory", "gpu:x"}, "--memory: 'gpu:x'"},
      {{"--memory", "bind:"}, "--memory: "},
      {{"--pages", "3M"}, "--pages: "},
      {{"--precision", "0"}, "--precision: '0' is not a fraction between 0 and 1"},
      {{"--precision", "200%"}, "--precision: '200%'"},
      {{"--precision", "nan"}, "--precision: 'nan'"},
      {{"--precision", "%"}, "--precision: '%'"},
      {{"--time", "0"}, "--time: "},
      {{"--time", "1w"}, "--time: '1w' has an unknown unit"},
      {{"--seed", "-1"}, "--seed: '-1'"},
      {{"--seed", "18446744073709551616"}, "--seed: "},
      {{"--verify", "maybe"}, "--verify: 'maybe' is not one of proof, full"},
      {{"--format", "xml"}, "--format: 'xml' is not one of table, csv, json"},
      {{"--size", "0"}, "--size: "},
      {{"--order", "up"}, "--order: "},
      {{"--stride", "0"}, "--stride: "},
      {{"--machine", "numa:2"}, "--machine: a recorded machine cannot be measured"},
      {{"--engine", "steam"}, "--engine: 'steam'"},
      {{"--engine", "null", "--noise", "ar1:tau=1s,sd=5%"},
       "--noise: 'ar1:tau=1s,sd=5%' is not one of lognormal=PART, delays:share=PART,by=TIME"},
      {{"--engine", "null", "--noise", "delays:share=1%"}, "--noise: 'delays:share=1%' is not"},
      {{"--engine", "null", "--noise", "delays:share=x,by=1us"}, "--noise: 'x' is not a fraction"},
      {{"--engine", "null", "--noise", "delays:share=1%,by=x"}, "--noise: 'x' "},
      {{"--engine", "null", "--noise", "lognormal=nan"}, "--noise: 'nan' is not a fraction"},
  };
  for (const auto& c : cases) EXPECT_THAT(problem(c.words), StartsWith(c.message)) << c.words[1];
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
  EXPECT_TRUE(parse_run("bandwidth", {"--stores", "regular"}));
  EXPECT_FALSE(parse_run("bandwidth", {"--stores", "nontemporal"}));
}

TEST(ParseRun, UnknownBenchmark) {
  const auto run = parse_run("dance", {});
  ASSERT_FALSE(run);
  EXPECT_EQ(full_text(run.error()), "unknown benchmark 'dance'");
}

TEST(LeftoverError, NamesTheNearestOption) {
  const auto run = parse_run("latency", {"--precison", "1%"});
  ASSERT_FALSE(run);
  EXPECT_EQ(full_text(run.error()), "latency: unknown option '--precison'");
  EXPECT_EQ(full_hint(parse_run("stream", {"--time", "2s"}).error()),
            "--repeats says how many rounds it runs");
  EXPECT_EQ(full_hint(run.error()), "did you mean --precision?");
}

TEST(LeftoverError, CommandsOptionsAndArguments) {
  CLI::App app;
  app.name("numatlas");
  app.add_subcommand("latency", "");
  app.add_subcommand("topology", "");
  app.add_flag("--version");
  EXPECT_EQ(full_text(leftover_error(app, {"latancy", "x"})),
            "numatlas: unknown command 'latancy'");
  EXPECT_EQ(full_hint(leftover_error(app, {"latancy"})), "did you mean latency?");
  EXPECT_EQ(full_text(leftover_error(app, {"--versoin=3"})),
            "numatlas: unknown option '--versoin'");
  EXPECT_EQ(full_hint(leftover_error(app, {"--versoin=3"})), "did you mean --version?");
  EXPECT_EQ(full_hint(leftover_error(app, {"xyzzyxyzzy"})), "see `numatlas --help`");
  CLI::App leaf;
  leaf.name("latency");
  EXPECT_EQ(full_text(leftover_error(leaf, {"512"})), "latency: unknown argument '512'");
  EXPECT_EQ(full_hint(leftover_error(leaf, {"512"})), "see `numatlas latency --help`");
}

}  // namespace
}  // namespace numatlas
