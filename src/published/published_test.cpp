// The tables that are part of the program, what is refused in them, and what is expected by them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/test_data.h"
#include "machine/source.h"
#include "processors/processor.h"
#include "published/expected.h"
#include "published/normal.h"
#include "published/shipped.h"

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
  std::size_t bytes = 0;
  std::set<std::string> processors;
  for (const ShippedTable& one : shipped_texts()) {
    bytes += one.text.size();
    const auto table = parse_published(one.text, one.file);
    ASSERT_TRUE(table) << full_text(table.error());
    std::set<std::string> keys;
    for (const PublishedRow& row : table->rows) {
      const std::string key =
          fmt::format("{} {} {} {} {} {}", row.provider, row.machine, row.processor, row.gpu,
                      row.sockets.value_or(0), row.source);
      processors.insert(row.processor);
      EXPECT_TRUE(keys.insert(key).second) << one.file << ":" << row.line << ": stands there twice";
      const PublishedFigure* const read = row.figure("read");
      if (!row.channels || !row.mts || read == nullptr) continue;
      const double peak = *row.channels * *row.mts * 1e6 * 8 * *row.sockets;
      EXPECT_LT(read->high, peak) << row.processor << ": more than its channels carry";
      EXPECT_GT(read->low, peak * 0.4) << row.processor;
    }
  }
  EXPECT_LE(bytes, 300000U);
  // scripts/published_tables makes them by the same rules.
  for (const std::string& name : processors) EXPECT_EQ(processor_name(name), name);
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

constexpr const char* good_table =
    "\xef\xbb\xbf"
    R"(# Made up.
# name: a test
# source: https://example.org
# date: 2026-02
# licence: none
processor,cpus,read_gb_s,latency_ns,conditions,virtual,date
EPYC 7742 , 8,138 to 144,,"quiet, cold",yes,2026-02
)";

TEST(Tables, ErrorsNameLineAndColumn) {
  const auto table = parse_published(good_table, "t.csv");
  ASSERT_TRUE(table) << full_text(table.error());
  EXPECT_EQ(table->licence, "none");
  EXPECT_EQ(table->rows.front().processor, "EPYC 7742");
  EXPECT_EQ(table->rows.front().conditions, "quiet, cold");
  EXPECT_DOUBLE_EQ(table->rows.front().figure("read")->high, 144e9);
  for (const auto& [from, to, error] : {
           std::tuple("138 to 144", "138e9", "t.csv:7: read_gb_s: expected a number from"),
           {"138 to 144", "144 to 138", "t.csv:7: read_gb_s"},
           {"138 to 144", "", "t.csv:7: has no figure"},
           {"138 to 144", "nan", "t.csv:7: read_gb_s"},
           {"cold\"", "cold", "t.csv:7: a quote is not closed"},
           {",cpus,", ",processor,", "t.csv:6: two columns 'processor'"},
           {",read_gb_s,", ",rad_gb_s,", "t.csv:6: unknown column 'rad_gb_s'"},
           {", 8,", ",8,8,", "t.csv:7: has 8 cells, and the table has 7 columns"},
           {", 8,", ",0,", "t.csv:7: cpus: expected a whole number from 1"},
           {", 8,", ",99999999999,", "t.csv:7: cpus"},
           {"EPYC 7742", "", "t.csv:7: expected either a processor or a gpu"},
           {"EPYC 7742", "\x1b[2J", "t.csv:7: processor: has characters"},
           {"yes", "true", "t.csv:7: virtual: expected 'yes' or nothing"},
           {"yes,2026-02", "yes,2026-13", "t.csv:7: date"},
           {"processor,", "Processor,", "t.csv:6: unknown column 'Processor'"},
           {"# licence: none\n", "", "t.csv:5: its head has no licence"},
           {"# date: 2026-02", "# date: May", "t.csv:6: date"},
           {"EPYC 7742 , 8,138 to 144,,\"quiet, cold\",yes,2026-02\n", "", "t.csv:7: has no rows"},
       }) {
    std::string text = good_table;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    const auto wrong = parse_published(text, "t.csv");
    ASSERT_FALSE(wrong) << error;
    EXPECT_THAT(full_text(wrong.error()), StartsWith(error));
    EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  }
  EXPECT_THAT(full_text(parse_published("", "t.csv").error()), StartsWith("t.csv:1: has no rows"));
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

Rows run_on(const std::string& host, const std::string& cpu_model, bool guest = false) {
  Rows run;
  run.command = "bandwidth";
  run.complete = true;
  run.hosts = {host};
  run.machines = {recorded_as(cpu_model)};
  run.machines.front().hypervisor = guest ? "KVM" : "";
  run.worker_cpus = {to_list(run.machines.front().all_cpus())};
  if (guest) {  // any that the tables have
    run.machines.front().caches.clear();
    for (Cpu& cpu : run.machines.front().cpus) cpu.core.reset();
  }
  Row reads;
  reads.kernel = "read";
  reads.unit = "B/s";
  reads.estimate = 300e9;
  run.rows = {reads};
  return run;
}

constexpr const char* icelake = "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz";

/// What is said of the reads of such a run; "" for nothing.
std::string said_of(const Rows& run) {
  const auto all = judge_figures(run, all_reads_of(run), "", Published());
  return all.empty() ? "" : to_text(all.front().verdict) + ": " + to_text(all.front());
}

TEST(Normal, WholeMachinesByTheirProcessor) {
  Rows run = run_on("a", icelake);
  EXPECT_EQ(said_of(run),
            "ok: read 300 GB/s: 0.92 of the one like it (322 to 332 GB/s; Xeon Platinum 8375C, 8 x "
            "3200 MT/s a socket); 73 % of "
            "410 GB/s (16 x DDR4-3200)");
  run.rows.front().estimate = 270e9;
  EXPECT_THAT(said_of(run), StartsWith("LOW: read 270 GB/s"));
  run.rows.front().estimate = 900e9;
  EXPECT_THAT(said_of(run), HasSubstr("not judged: it reads more than its memory carries"));
  EXPECT_THAT(said_of(run_on("a", "Intel(R) Xeon(R) Platinum 8480+")),
              HasSubstr("(481 to 527 GB/s; Xeon Platinum 8480+, 1 socket, times 2, 8 x 4800 MT/s a "
                        "socket)"));
  EXPECT_EQ(said_of(run_on("a", "Intel(R) Xeon(R) Platinum 8490H")),
            "LOW: read 300 GB/s: 49 % of 614 GB/s (16 x DDR5-4800)");
  EXPECT_EQ(said_of(run_on("a", "something else")), "");
  EXPECT_THAT(said_of(run_on("a", icelake, true)), HasSubstr("names no cloud (--machine-type)"));
}

/// Machines of clouds: 16 CPUs, as in the recorded machine.
TEST(Normal, MachinesOfClouds) {
  struct Case {
    const char *provider, *type, *model;
    double gb_s;
    const char* said;
  };
  for (const Case& one : {
           Case{"aws", "", "Neoverse-V2", 300, "ok: read 300 GB/s: 0.99 of the median of 14 like"},
           {"aws", "", "Neoverse-V2", 200, "LOW: read"},
           {"", "r8g.4xlarge", "Neoverse-V2", 200, "LOW: read"},
           {"alicloud", "", "Intel(R) Xeon(R) Platinum 8269CY CPU @ 2.50GHz", 40,
            "not judged: read 40.0 GB/s: 0.51 of the median of 14 like it (63.7 to 96.0 GB/s; "
            "alicloud, Xeon Platinum 8269CY, 16 CPUs, by sc-membench); not judged: they lie too "
            "far "
            "apart"},
           {"aws", "", "Model 1", 80,
            "not judged: read 80.0 GB/s; not judged: nothing is known of aws, Model 1, 16 CPUs"},
           {"nobody", "", "AMD EPYC 7R13", 80,
            "not judged: read 80.0 GB/s; not judged: nothing is known of nobody, EPYC 7R13, 16 "
            "CPUs"},
           {"", "m7i.4xlarge", "Intel(R) Xeon(R) Processor", 10, "LOW: read 10.0 GB/s: "},
           {"", "m7i.large", "Intel(R) Xeon(R) Processor", 10,
            "not judged: read 10.0 GB/s; not judged: nothing is known of machine type m7i.large "
            "with "
            "Xeon, 16 CPUs"},
           {"aws", "", "Intel(R) Xeon(R) Processor", 80,
            "not judged: read 80.0 GB/s; not judged: its processor's name, \"Xeon\", is no model"},
           {"aws", "", "AMD EPYC 7R13", 900,
            "not judged: read 900 GB/s: 22.62 of the median of 5 like it (38.3 to 40.7 GB/s; aws, "
            "EPYC 7R13, 16 CPUs, by bw_mem); not judged: 22.1 times the highest of 5 like it: "
            "another "
            "machine, or its data came from a cache"},
           {"", "m7i.4xlage", "AMD EPYC 7R13", 80,
            "not judged: read 80.0 GB/s; not judged: nothing is known of machine type m7i.4xlage "
            "(did you mean m7i.4xlarge?)"},
           {"", "m9.large", "AMD EPYC 7R13", 80,
            "not judged: read 80.0 GB/s; not judged: nothing is known of machine type m9.large"},
           // Of both tables, and of the one of GPUs alone, which tells the provider.
           {"", "a10-45", "AMD EPYC-Genoa Processor", 80,
            "not judged: read 80.0 GB/s; not judged: nothing is known of machine type a10-45 with "
            "EPYC-Genoa, 16 CPUs"},
           {"", "a10-180", "AMD EPYC-Genoa Processor", 80,
            "not judged: read 80.0 GB/s; not judged: its processor's name, \"EPYC-Genoa\", is no "
            "model"},
       }) {
    Rows run = run_on("a", one.model, true);
    run.machines.front().identity.provider = one.provider;
    run.rows.front().estimate = one.gb_s * 1e9;
    const auto all = judge_figures(run, all_reads_of(run), one.type, Published());
    ASSERT_EQ(all.size(), 1U);
    EXPECT_THAT(to_text(all.front().verdict) + ": " + to_text(all.front()), StartsWith(one.said));
  }
}

/// Of the same machine as two programs measured it, one has more of.
TEST(Normal, FiguresOfOneProgram) {
  Published published;
  std::string text =
      "# name: own\n# source: https://example.org\n# date: 2026-02\n# licence: none\n"
      "provider,processor,cpus,program,read_gb_s\n";
  for (const auto& [program, read] : {std::pair("few", 50),
                                      {"few", 51},
                                      {"few", 52},
                                      {"many", 80},
                                      {"many", 81},
                                      {"many", 82},
                                      {"many", 83}})
    text += fmt::format("own,Mine 1,16,{},{}\n", program, read);
  published.tables = {parse_published(text, "own.csv").value()};
  Rows run = run_on("a", "Mine 1", true);
  run.machines.front().identity.provider = "own";
  run.rows.front().estimate = 79e9;
  const auto said = [&] {
    const auto all = judge_figures(run, all_reads_of(run), "", published);
    return to_text(all.front().verdict) + ": " + to_text(all.front());
  };
  EXPECT_EQ(said(),
            "ok: read 79.0 GB/s: 0.97 of the median of 4 like it (80.0 to 83.0 GB/s; own, Mine 1, "
            "16 CPUs, by many)");
  published.tables.front().rows.front().program = "numatlas";
  published.least = 1;
  EXPECT_THAT(said(),
              HasSubstr("of the one like it (50.0 GB/s; own, Mine 1, 16 CPUs, by numatlas"));
}

TEST(Expected, HalfAMebibyteOfCacheAsTheTableHasIt) {
  Machine machine = recorded_as("Intel(R) Xeon(R) Platinum 8280M CPU @ 2.70GHz");
  machine.caches = {{3, "unified", Bytes{38 * mib + mib / 2}, std::nullopt, machine.all_cpus()}};
  const auto& cloud = shipped_tables().front().rows;
  const auto row = std::ranges::find(cloud, "Standard_M16-4ms", &PublishedRow::machine);
  ASSERT_NE(row, cloud.end());
  EXPECT_EQ(caches_in_mib(machine), row->cache_mib);
}

TEST(Normal, EnoughOthersThatAreNearEachOther) {
  for (const auto& [others, value, verdict] : {
           std::tuple(std::vector<double>{31, 34, 36}, 34.0, "ok"),
           {{31, 34, 36}, 26.4, "ok"},
           {{31, 34, 36}, 26.3, "LOW"},
           {{31, 34}, 1.0, "not judged"},
           {{20, 34, 36}, 1.0, "not judged"},
           {{}, 1.0, "not judged"},
       }) {
    std::vector<std::pair<double, double>> values;
    for (const double other : others) values.emplace_back(other * 1e9, other * 1e9);
    Normal one{"read", "B/s", value * 1e9};
    hold_against(values, 3, one);
    EXPECT_EQ(to_text(one.verdict), verdict) << value;
  }
}

TEST(Normal, GpusByNameAndLink) {
  struct Case {
    const char* name;
    double speed;
    int width;
    double gb_s;
    bool mig;
    const char *said, *provider = "", *memory = "bind:0", *size = "128MiB";
  };
  for (const Case& one : {
           Case{"NVIDIA H100 80GB HBM3", 32e9, 16, 55, false, "ok: GPU 0: copies to it 55.0 GB/s"},
           {"NVIDIA H100 80GB HBM3", 32e9, 8, 27.6, false,
            "LOW: its link runs at Gen5 x8 of Gen5 x16: GPU 0: copies to it 27.6 GB/s: 0.50 of the "
            "median of 3 like it (55.2 to 55.3 GB/s; NVIDIA H100 80GB HBM3 at Gen5 x16)"},
           {"NVIDIA H100 80GB HBM3", 32e9, 16, 27.6, false, "LOW: GPU 0: copies to it"},
           {"NVIDIA H100 80GB HBM3", 8e9, 16, 14, false, "LOW: its link runs at Gen3 x16 of"},
           {"NVIDIA H100 80GB HBM3", 16e9, 16, 27.6, false,
            "LOW: its link runs at Gen4 x16 of Gen5 x16: GPU 0: copies to it 27.6 GB/s"},
           {"NVIDIA L4", 2.5e9, 8, 13.4, false, "ok: GPU 0: copies to it 13.4 GB/s"},
           {"NVIDIA H100 80GB HBM3", 32e9, 16, 27.6, true,
            "not judged: GPU 0: copies to it 27.6 GB/s; not judged: it is a slice of a GPU"},
           {"NVIDIA A10-4Q", 0, 0, 27.6, false, "not judged: GPU 0: copies to it 27.6 GB/s; not"},
           {"NVIDIA H100 80GB HBM3", 16e9, 16, 27.6, false,
            "ok: GPU 0: copies to it 27.6 GB/s: 1.00 of the median of 7 like it (27.7 to 27.7 "
            "GB/s; gcp, NVIDIA H100 80GB HBM3 at Gen4 x16)",
            "gcp"},
           {"NVIDIA H100 80GB HBM3", 32e9, 16, 27.6, false, "LOW: GPU 0: copies to it", "upcloud"},
           {"NVIDIA H100 80GB HBM3", 32e9, 16, 99, false,
            "not judged: GPU 0: copies to it 99.0 GB/s: 1.79 of the median of 3 like it (55.2 to "
            "55.3 GB/s; NVIDIA H100 80GB HBM3 at Gen5 x16); not judged: 1.8 times the highest of 3 "
            "like it: another GPU, or another link"},
           {"NVIDIA H100 80GB HBM3", 32e9, 16, 55, false,
            "not judged: GPU 0: copies to it 55.0 GB/s: 0.99 of the median of 3 like it (55.2 to "
            "55.3 GB/s; NVIDIA H100 80GB HBM3 at Gen5 x16); not judged: memory of another node "
            "than the GPU's, 0",
            "", "bind:1"},
           {"NVIDIA H100 80GB HBM3", 32e9, 16, 5, false,
            "not judged: GPU 0: copies to it 5.00 GB/s: 0.09 of the median of 3 like it (55.2 to "
            "55.3 GB/s; NVIDIA H100 80GB HBM3 at Gen5 x16); not judged: copies of 1 MiB take long "
            "to start: give it at least 16 MiB",
            "", "bind:0", "64KiB,1MiB"},
           {"Other", 32e9, 16, 55, false,
            "not judged: GPU 0: copies to it 55.0 GB/s; not judged: nothing is known of Other"},
       }) {
    Rows run = run_on("a", "something else", true);
    Gpu& gpu = run.machines.front().gpus.front();
    gpu.name = one.name;
    gpu.index = 0;
    gpu.mig = one.mig;
    PciLink link;
    if (one.speed > 0) {
      const bool is_l4 = std::string(one.name) == "NVIDIA L4";
      link = PciLink{one.speed, is_l4 ? 16e9 : 32e9, one.width, 16};
    }
    gpu.path = {{"0000:00:06.0", link}};
    run.machines.front().identity.provider = one.provider;
    run.arguments = {"transfer", "--size", one.size};
    run.facts = {
        {"gpu_copy_rate",
         {{"gpu", "0"}, {"direction", "h2d"}, {"pinning", "pinned"}, {"memory", one.memory}},
         "copies",
         "B/s",
         one.gb_s * 1e9,
         "GPU 0",
         ""}};
    const auto all = judge_figures(run, {}, "", Published());
    ASSERT_EQ(all.size(), 1U);
    EXPECT_THAT(to_text(all.front().verdict) + ": " + to_text(all.front()), StartsWith(one.said));
  }
}

TEST(Normal, OneLineOfASurvey) {
  Normal ok{"read", "B/s", 34e9}, low{"copies", "B/s", 10e9}, open{"write", "B/s", 5e9};
  ok.verdict = Normal::Verdict::ok;
  low.verdict = Normal::Verdict::low;
  low.limit = 20e9;
  open.reason = "nothing is known of it";
  Normal slow{"load", "s", 1e-6};
  slow.verdict = Normal::Verdict::low;
  slow.limit = 0.9e-6;
  EXPECT_EQ(normal_line({}), "");
  EXPECT_EQ(normal_line({open}), "not judged: nothing is known of it");
  EXPECT_EQ(normal_line({open, ok}), "yes: read 34.0 GB/s");
  EXPECT_EQ(normal_line({ok, ok, slow, open, low}),
            "LOW: copies 10.0 GB/s; 1 more (numatlas check)");
}

TEST(Expected, ReadsOfAllCpusFromMemory) {
  Rows some = run_on("a", icelake);
  some.worker_cpus = {"0"};
  EXPECT_THAT(said_of(some), HasSubstr("; not judged: not every core took part"));
  Rows doubtful = run_on("a", icelake);
  doubtful.rows.front().estimate = 1e9;
  EXPECT_THAT(said_of(doubtful), StartsWith("LOW"));
  doubtful.trust = "unreliable";
  EXPECT_THAT(said_of(doubtful), HasSubstr("; not judged: the run is UNRELIABLE"));
  doubtful.machines.front().identity.provider = "nobody";
  doubtful.machines.front().hypervisor = "KVM";
  EXPECT_THAT(said_of(doubtful), HasSubstr("; not judged: nothing is known of nobody"))
      << "nor of a quiet run";
  doubtful.engine = "null";
  EXPECT_THAT(said_of(doubtful), HasSubstr("; not judged: simulated"));
  Rows cached = run_on("a", icelake);
  Machine& machine = cached.machines.front();
  machine.caches = {{3, "unified", Bytes{32 * mib}, std::nullopt, machine.own_cpus(NodeId{0})},
                    {3, "unified", Bytes{32 * mib}, std::nullopt, machine.own_cpus(NodeId{1})}};
  cached.rows.front().memory = Bytes{64 * mib};
  EXPECT_EQ(all_reads_of(cached).reason, "");
  cached.rows.front().memory = Bytes{63 * mib};
  EXPECT_EQ(all_reads_of(cached).reason, "a cache can hold 63 MiB");
  for (const auto& [asked, reason] :
       {std::pair(std::vector<std::string>{"bandwidth", "--memory", "bind:1"}, "memory of bind:1"),
        {{"bandwidth", "--memory=interleave:0,1"}, "memory of interleave:0,1"},
        {{"bandwidth", "--serial"}, "each worker alone (--serial)"},
        {{"bandwidth", "--pages", "base"}, "base pages"},
        {{"bandwidth", "--memory", "local", "--pages", "thp"}, ""}}) {
    Rows other = run_on("a", icelake);
    other.arguments = asked;
    EXPECT_EQ(all_reads_of(other).reason, reason);
    const std::string said = said_of(other);
    EXPECT_THAT(said, *reason == '\0' ? StartsWith("ok: ") : StartsWith("not judged: "));
    EXPECT_THAT(said, HasSubstr(reason));
  }
  Rows ended = run_on("a", icelake);
  ended.complete = false;
  EXPECT_EQ(all_reads_of(ended).reason, "the run is INCOMPLETE");
  Rows gpus = run_on("a", icelake);
  gpus.arguments = {"bandwidth", "--on", "gpus"};
  EXPECT_FALSE(all_reads_of(gpus).rate);
  Rows several = run_on("a", icelake);
  several.hosts.emplace_back("b");
  EXPECT_EQ(all_reads_of(several).rate, std::nullopt) << "no row of the host";
  several.rows.front().host = 0;
  EXPECT_THAT(said_of(several), HasSubstr("; not judged: a run of 2 hosts: run it on each alone"));
}

}  // namespace
}  // namespace numatlas
