// The tables that are part of the program, what is refused in them, and what is expected by them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <utility>

#include "base/test_data.h"
#include "machine/source.h"
#include "processors/processor.h"
#include "published/expected.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Tables, EveryRowOfTheShippedFiles) {
  const auto cpus = parse_cpus(shipped_cpus_text(), "data/cpus.toml");
  ASSERT_TRUE(cpus) << full_text(cpus.error());
  EXPECT_GE(cpus->size(), 40U);
  for (const ProcessorRow& spec : *cpus) {
    // No socket of these has less than two slow channels, or more than twelve of the fastest.
    EXPECT_GE(spec.peak, 30e9) << spec.name;
    EXPECT_LE(spec.peak, 12 * 8800e6 * 8) << spec.name;
  }
  const auto rows = parse_published(shipped_published_text(), "data/published.toml");
  ASSERT_TRUE(rows) << full_text(rows.error());
  EXPECT_GE(rows->size(), 40U);
  for (const PublishedRow& row : *rows) {
    EXPECT_EQ(processor_name(row.model), row.model);
    if (!row.channels || !row.rate) continue;
    const double peak = *row.channels * *row.rate * 8 * row.sockets;
    EXPECT_LT(row.high, peak) << row.model << ": more than its channels carry";
    EXPECT_GT(row.low, peak * 0.4) << row.model;
  }
}

std::string spec_named(const std::string& cpu_model) {
  for (const ProcessorRow& spec : shipped_cpus())
    if (std::regex_search(cpu_model, spec.models)) return spec.name;
  return "";
}

TEST(Tables, NamesThatKernelsGive) {
  for (const auto& [model, name] : {
           std::pair("Intel(R) Xeon(R) CPU E5-2699 v4 @ 2.20GHz", "Xeon E5 v4 (Broadwell), fast"),
           std::pair("Intel(R) Xeon(R) CPU E5-2620 v3 @ 2.40GHz", "Xeon E5 v3 (Haswell), others"),
           std::pair("Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz", "Xeon models of 2933"),
           std::pair("Intel(R) Xeon(R) Gold 6338N CPU @ 2.20GHz", "Xeon models of 2667"),
           std::pair("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", "Xeon Platinum 8300"),
           std::pair("INTEL(R) XEON(R) PLATINUM 8559C", "Xeon Platinum 8500"),
           std::pair("Intel(R) Xeon(R) CPU Max 9480", "Xeon Max 9400"),
           std::pair("Intel(R) Xeon(R) 6730P", "Xeon 6700P"),
           std::pair("AMD EPYC 7252 8-Core Processor", "EPYC 7232P"),
           std::pair("AMD EPYC 7R13 Processor", "EPYC 7003"),
           std::pair("AMD EPYC 9754S 128-Core Processor", "EPYC 9004"),
           std::pair("Neoverse-V1", "Neoverse V1"),
       })
    EXPECT_THAT(spec_named(model), StartsWith(name)) << model;
  // Cooper Lake, the Azure part with HBM, and what says nothing.
  for (const char* model :
       {"Intel(R) Xeon(R) Platinum 8369HB CPU @ 3.20GHz", "AMD EPYC 9V64H 88-Core Processor",
        "AMD EPYC", "Intel(R) Xeon(R) CPU @ 2.20GHz", ""})
    EXPECT_EQ(spec_named(model), "") << model;
}

TEST(Tables, NamesAsTheTableHasThem) {
  EXPECT_EQ(processor_name("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"), "Xeon Platinum 8375C");
  EXPECT_EQ(processor_name("Intel(R) Xeon(R) CPU E5-2699 v4 @ 2.20GHz"), "Xeon E5-2699 v4");
  EXPECT_EQ(processor_name("AMD EPYC 9354P 32-Core Processor"), "EPYC 9354P");
  EXPECT_EQ(processor_name("Arm Neoverse V2"), "Neoverse V2");
  EXPECT_EQ(processor_name("Neoverse-V2"), "Neoverse V2");
  EXPECT_LE(processor_name(std::string(1 << 20, '@')).size(), 128U);
  EXPECT_EQ(processor_name("\x1b[2J").find('\x1b'), std::string::npos);
}

constexpr const char* good_row = R"([[row]]
model = "EPYC 7742"
sockets = 1
kernel = "read"
gbs = [138, 144]
conditions = "a test"
source = "https://example.org/a"
date = "2026-02"
)";

/// The error of the row above with one line replaced, and where it stands.
std::string error_with(const std::string& from, const std::string& to) {
  std::string text = good_row;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
  const auto rows = parse_published(text, "t.toml");
  return rows ? "" : full_text(rows.error());
}

TEST(Tables, ErrorsNameLineAndField) {
  EXPECT_TRUE(parse_published(good_row, "t.toml"));
  EXPECT_THAT(error_with("gbs = [138, 144]", "gbs = 138e9"), HasSubstr("t.toml:5:1: gbs"));
  EXPECT_THAT(error_with("gbs = [138, 144]", "gbs = [144, 138]"), HasSubstr("lowest stands first"));
  EXPECT_THAT(error_with("gbs = [138, 144]", "gbs = \"138\""), HasSubstr("expected a number"));
  EXPECT_THAT(error_with("gbs = [138, 144]\n", ""), HasSubstr("'gbs' is missing"));
  EXPECT_THAT(error_with("https://example.org/a", "a book"), HasSubstr("t.toml:7:1: source"));
  EXPECT_THAT(error_with("source", "sauce"), HasSubstr("unknown key 'sauce'"));
  EXPECT_THAT(error_with("2026-02", "February"), HasSubstr("date"));
  EXPECT_THAT(error_with("sockets = 1", "sockets = 99"), HasSubstr("t.toml:3:1: sockets"));
  EXPECT_THAT(error_with("sockets = 1", "sockets = 1\nidle_ns = 1e-7"), HasSubstr("idle_ns"));
  EXPECT_THAT(error_with("[[row]]", "[[row]"), HasSubstr("t.toml:1"));
  const auto twice = parse_published(std::string(good_row) + good_row, "t.toml");
  ASSERT_FALSE(twice);
  EXPECT_THAT(full_text(twice.error()), HasSubstr("t.toml:9:1"));
}

TEST(Tables, ErrorsOfProcessors) {
  const auto error_of = [](const std::string& lines) {
    const auto specs = parse_cpus(
        "[[cpu]]\nname = \"x\"\nmemory = \"DDR5\"\nl3_mib = 32\n"
        "source = \"https://example.org\"\n" +
            lines,
        "c.toml");
    return specs ? "" : full_text(specs.error());
  };
  EXPECT_EQ(error_of("models = 'x'\nchannels = 8\nmts = 4800\n"), "");
  EXPECT_EQ(error_of("models = 'x'\npeak_gbs = 512\n"), "");
  EXPECT_THAT(error_of("models = '('\npeak_gbs = 512\n"), HasSubstr("c.toml:6:1: models"));
  EXPECT_THAT(error_of("models = 'x'\n"), HasSubstr("either peak_gbs, or channels and mts"));
  EXPECT_THAT(error_of("models = 'x'\nchannels = 8\n"), HasSubstr("'mts' is missing"));
  EXPECT_THAT(error_of("models = 'x'\nchannels = 8\nmts = 4.8\n"), HasSubstr("mts"));
  EXPECT_THAT(error_of("models = 'x'\npeak_gbs = 512\ncores = []\n"), HasSubstr("cores"));
}

Machine recorded_as(const std::string& cpu_model) {
  auto machine = read_recorded_machine(test_data() + "/topologies/two-sockets-four-gpus.json");
  EXPECT_TRUE(machine);
  machine->cpu_model = cpu_model;
  return *machine;
}

TEST(Expected, PeakOfTheProcessor) {
  const auto peak = peak_rate_of(recorded_as("Intel(R) Xeon(R) Platinum 8480+"));
  ASSERT_TRUE(peak);
  EXPECT_DOUBLE_EQ(peak->rate, 2 * 8 * 4800e6 * 8);
  EXPECT_EQ(peak->text, "614 GB/s (16 x DDR5-4800)");
  EXPECT_EQ(peak_rate_of(recorded_as("AMD EPYC 7252 8-Core Processor"))->text, "171 GB/s (DDR4)");
  EXPECT_FALSE(peak_rate_of(recorded_as("Intel(R) Xeon(R) Max 9480")));
  EXPECT_FALSE(peak_rate_of(recorded_as("an unknown one")));
}

TEST(Expected, ModulesTellMoreThanTheProcessor) {
  Machine machine = recorded_as("Intel(R) Xeon(R) Platinum 8480+");
  for (const char* channel : {"A", "B", "C"}) {
    MemorySlot slot;
    slot.name = slot.channel = channel;
    slot.socket = "0";
    slot.type = "DDR5";
    slot.width = 64;
    slot.size = Bytes{channel[0] == 'C' ? 0 : 16 * gib};
    slot.rated_speed = 4800e6;
    slot.configured_speed = 4400e6;
    machine.memory_slots.slots.push_back(slot);
  }
  const auto peak = peak_rate_of(machine);
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->text, "70.4 GB/s (2 x DDR5-4400)");
  EXPECT_THAT(peak->empty, ::testing::ElementsAre("socket 0 channel C"));
}

TEST(Expected, PublishedFiguresByTheSocket) {
  const auto twice = published_reads(recorded_as("Intel(R) Xeon(R) Platinum 8480+"), false);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->text, "481 to 527 GB/s (1 socket, times 2)");
  const auto same = published_reads(recorded_as("Intel(R) Xeon(R) Platinum 8375C CPU"), false);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->text, "322 to 332 GB/s");
  EXPECT_FALSE(published_reads(recorded_as("AMD EPYC 9R45"), false)) << "a virtual machine's";
  EXPECT_TRUE(published_reads(recorded_as("AMD EPYC 9R45"), true));
}

Rows run_on(const std::string& host, const std::string& cpu_model, bool guest = false) {
  Rows run;
  run.command = "bandwidth";
  run.hosts = {host};
  run.machines = {recorded_as(cpu_model)};
  run.machines.front().hypervisor = guest ? "KVM" : "";
  run.worker_cpus = {to_list(run.machines.front().all_cpus())};
  Row reads;
  reads.kernel = "read";
  reads.unit = "B/s";
  reads.estimate = 300e9;
  run.rows = {reads};
  return run;
}

constexpr const char* icelake = "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz";

TEST(Expected, WhatChecksHoldReadsAgainst) {
  const auto published = known_reads(run_on("a", icelake));
  ASSERT_TRUE(published);
  EXPECT_NEAR(published->limit, 321.5e9 * 0.85, 0.1e9);
  EXPECT_EQ(published->against, "published figures");
  EXPECT_THAT(published->words, HasSubstr("published for this model: 322 to 332 GB/s"));
  const auto peak = known_reads(run_on("b", "Intel(R) Xeon(R) Platinum 8490H"));
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->against, "the memory's peak");
  EXPECT_NEAR(peak->limit, 0.6 * peak_rate_of(recorded_as("Intel(R) Xeon(R) Platinum 8490H"))->rate,
              1);
  EXPECT_FALSE(known_reads(run_on("c", icelake, true))) << "a share of a processor";
  EXPECT_FALSE(known_reads(run_on("d", "something else")));
  Rows more = run_on("e", icelake);
  more.rows.front().estimate = 900e9;
  EXPECT_FALSE(known_reads(more)) << "other memory";
}

TEST(Expected, ReadsOfAllCpusFromMemory) {
  Rows some = run_on("a", icelake);
  some.worker_cpus = {"0"};
  EXPECT_FALSE(all_reads_of(some));
  Rows cached = run_on("a", icelake);
  Machine& machine = cached.machines.front();
  machine.caches = {{3, "unified", Bytes{32 * mib}, std::nullopt, machine.own_cpus(NodeId{0})},
                    {3, "unified", Bytes{32 * mib}, std::nullopt, machine.own_cpus(NodeId{1})}};
  cached.rows.front().memory = Bytes{64 * mib};
  EXPECT_TRUE(all_reads_of(cached));
  cached.rows.front().memory = Bytes{63 * mib};
  EXPECT_FALSE(all_reads_of(cached)) << "a cache's";
}

}  // namespace
}  // namespace numatlas
