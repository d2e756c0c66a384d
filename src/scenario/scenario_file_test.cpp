#include "scenario/scenario_file.h"

#include <chrono>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/source.h"
#include "memory/source.h"

namespace numatlas {
namespace {

using testing::HasSubstr;

/// A scenario with this flow; the flow's keys start in line 4.
std::string with_flow(const std::string& keys) {
  return "[[scenario]]\nname = \"one\"\n[[scenario.flow]]\n" + keys;
}

Error error_in(const std::string& text) {
  const auto file = parse_scenarios(text, "f.toml");
  EXPECT_FALSE(file) << text;
  return file ? Error{} : file.error();
}

TEST(ScenarioFile, BracketsInTextsAreNoBrackets) {
  const std::string basic(3, '"'), literal(3, '\'');
  for (const std::string& name : {basic + "\nuse [x or } y" + basic, literal + "\n[ }" + literal,
                                  std::string("\"[ }\""), std::string("'[ }'")}) {
    const auto file = parse_scenarios("[[scenario]]\nname = " + name +
                                          "\n[[scenario.flow]]\ncpu = 0\nkernel = \"read\"\n"
                                          "size = \"1MiB\"\n",
                                      "file");
    // A name may have rules of its own; brackets are not among them.
    const std::string told = file ? "" : full_text(file.error());
    EXPECT_THAT(told, ::testing::Not(::testing::HasSubstr("closes no"))) << name;
  }
}

TEST(ScenarioFile, EveryKeyIsRead) {
  const auto file = parse_scenarios(R"(
cpus = "9,1-3,0"
[[scenario]]
name = "all"
time = "2s"
precision = "3%"
[[scenario.flow]]
cpu = 0
kernel = "chase"
size = "1.5MiB"
memory = " bind:1 "
pages = "thp"
order = "page-local"
stride = 128
window = "8KiB"
seed = 7
verify = "full"
chains = 3
first_touch = 9
warm_up = 0
[[scenario.flow]]
cpus = "3,1-2"
kernel = "triad"
size = "64MB"
memory = "each:0,1"
source = { size = "1GiB", memory = "interleave:0,1", pages = "2M" }
stores = "non-temporal"
role = "load"
rate = "2GB/s"
)",
                                    "f.toml");
  ASSERT_TRUE(file) << full_text(file.error());
  EXPECT_EQ(file->cpus, (std::vector<CpuId>{{9}, {1}, {2}, {3}, {0}}));
  ASSERT_EQ(file->scenarios.size(), 1u);
  const FileScenario& scenario = file->scenarios[0];
  EXPECT_EQ(scenario.name, "all");
  EXPECT_EQ(scenario.time, std::chrono::seconds(2));
  EXPECT_EQ(scenario.precision, 0.03);
  ASSERT_EQ(scenario.flows.size(), 2u);
  EXPECT_EQ(flow_text(scenario.flows[0]),
            "chase cpu:0 mem:1 size:1536KiB pages:thp touch:9 order:page-local stride:128B "
            "window:8KiB seed:7 verify:full chains:3 warm_up:0");
  EXPECT_EQ(flow_text(scenario.flows[1]),
            "triad cpu:3,1-2 mem:each:0,1 size:62500KiB stores:nt role:load rate:2GB/s "
            "from:interleave:0,1 from_size:1GiB from_pages:2M");
}

TEST(ScenarioFile, CpusComeInTheOrderOfTheFile) {
  const auto file = parse_scenarios(
      with_flow("cpu = 5\nkernel = \"read\"\nsize = \"1MiB\"\nfirst_touch = 9\n"
                "[[scenario.flow]]\ncpus = \"0,9\"\nkernel = \"read\"\nsize = \"1MiB\"\n"),
      "f.toml");
  ASSERT_TRUE(file) << full_text(file.error());
  EXPECT_EQ(cpus_named(*file), (std::vector<CpuId>{{5}, {9}, {0}}));
}

struct Bad {
  const char* keys;
  const char* message;
  const char* hint;
};

class BadFlow : public testing::TestWithParam<Bad> {};

TEST_P(BadFlow, IsToldWithItsPlace) {
  const Error error = error_in(with_flow(GetParam().keys));
  EXPECT_EQ(error.kind, ErrorKind::usage);
  const std::string message = std::string("f.toml:") + GetParam().message;
  EXPECT_EQ(full_text(error), message);
  EXPECT_THAT(full_hint(error), HasSubstr(GetParam().hint));
}

#define READ "cpu = 0\nkernel = \"read\"\nsize = \"1MiB\"\n"
#define CHASE "cpu = 0\nkernel = \"chase\"\nsize = \"1MiB\"\n"

INSTANTIATE_TEST_SUITE_P(
    Keys, BadFlow,
    testing::Values(
        Bad{READ "kernal = 1\n", "7:1: unknown key 'kernal' of a flow", "did you mean kernel?"},
        Bad{READ "zzzzzzzzzzzz = 1\n", "7:1: unknown key 'zzzzzzzzzzzz' of a flow",
            "its keys are cpu, cpus"},
        Bad{"cpu = \"0\"\nkernel = \"read\"\nsize = \"1MiB\"",
            "4:1: cpu: expected a whole number, not a text", ""},
        Bad{"cpu = -1\nkernel = \"read\"\nsize = \"1MiB\"", "4:1: cpu: -1 is not from 0 to 1048576",
            ""},
        Bad{"cpus = \"3-1\"\nkernel = \"read\"\nsize = \"1MiB\"",
            "4:1: cpus: the range '3-1' in '3-1' is empty", ""},
        Bad{"cpus = \"0,1,0\"\nkernel = \"read\"\nsize = \"1MiB\"",
            "4:1: cpus: CPU 0 is named twice in '0,1,0'", ""},
        Bad{READ "cpus = \"0\"\n", "7:1: cpus: 'cpu' is given as well", ""},
        Bad{"kernel = \"read\"\nsize = \"1MiB\"", "3:1: a flow: key 'cpu' is missing", ""},
        Bad{"cpu = 0\nsize = \"1MiB\"", "3:1: a flow: key 'kernel' is missing", ""},
        Bad{"cpu = 0\nkernel = \"reed\"\nsize = \"1MiB\"", "5:1: kernel: unknown kernel 'reed'",
            "did you mean read?"},
        Bad{"cpu = 0\nkernel = \"read\"\nsize = 64",
            "6:1: size: expected a text in \"\", not a whole number", ""},
        Bad{"cpu = 0\nkernel = \"read\"\nsize = \"64\"", "6:1: size: '64' has no unit",
            "write 64MiB or 64B"},
        Bad{"cpu = 0\nkernel = \"read\"\nsize = \"63B\"",
            "6:1: size: 63 B are less than a cache line", ""},
        Bad{"cpu = 0\nkernel = \"read\"\nsize = \"1XB\"", "6:1: size: '1XB' has an unknown unit",
            "KiB"},
        Bad{READ "memory = [[}]]", "7:12: '}' closes no '{'", ""},
        Bad{READ "memory = \"bnd:0\"", "7:1: memory: 'bnd:0' is not a placement", "bind:0"},
        Bad{READ "pages = \"base,2M\"", "7:1: pages: 'base,2M' names several", ""},
        Bad{READ "role = \"loads\"", "7:1: role: 'loads' is not one of measured, load",
            "did you mean load?"},
        Bad{READ "rate = \"2GB\"", "7:1: rate: '2GB' is not a rate", "2GB/s"},
        Bad{READ "rate = 0", "7:1: rate: 0 is not a number of at least 1000000 bytes a second", ""},
        Bad{READ "rate = nan", "7:1: rate: nan is not a number of at least 1000000 bytes a second",
            ""},
        Bad{READ "order = \"random\"", "7:1: order: does not apply to the kernel 'read'", ""},
        Bad{READ "stores = \"regular\"", "7:1: stores: does not apply to the kernel 'read'", ""},
        Bad{READ "source = { size = \"1MiB\" }", "7:1: source: does not apply to the kernel 'read'",
            ""},
        Bad{"cpu = 0\nkernel = \"copy\"\nsize = \"1MiB\"\nsource = { sice = \"1MiB\" }",
            "7:12: unknown key 'sice' of source", "did you mean size?"},
        Bad{CHASE "stride = 12",
            "7:1: stride: 12 B is not a multiple of 8 bytes (a node is a "
            "pointer)",
            ""},
        Bad{CHASE "stride = 0", "7:1: stride: 0 is not from 1 to 4611686018427387904", ""},
        Bad{CHASE "seed = \"18446744073709551616\"",
            "7:1: seed: '18446744073709551616' is not a whole number below 2^64", ""},
        Bad{CHASE "order = \"page-local\"\nchains = 2\nwindow = \"1GiB\"",
            "8:1: chains: 2 chains need 4 pages and there are 1", ""},
        Bad{CHASE "order = \"randm\"", "7:1: order: 'randm' is not an order", ""},
        Bad{"cpu = 0\nkernel = \"mix\"\nmix = \"2\"\nsize = \"1MiB\"",
            "6:1: mix: '2' is not READS:WRITES", "2:1"},
        Bad{READ "role = \"load\"", "1:1: a scenario requires a measured flow", ""},
        Bad{READ "[[scenario.flow]]\n" READ, "8:1: cpu: CPU 0 has a flow in this scenario already",
            "in turns"},
        Bad{READ "shares = 0", "7:1: shares: the flow on CPU 0 has no memory of its own", ""},
        Bad{READ "shares = 4", "7:1: shares: CPU 4 has no flow in this scenario", ""},
        Bad{READ "[[scenario.flow]]\ncpu = 1\nkernel = \"write\"\nshares = 0",
            "10:1: shares: the kernel 'write' cannot share the memory of 'read'", "read and read"},
        Bad{CHASE "[[scenario.flow]]\ncpu = 1\nkernel = \"write\"\nshares = 0",
            "10:1: shares: the kernel 'write' cannot share the memory of 'chase'",
            "give it memory of its own"},
        Bad{CHASE "[[scenario.flow]]\ncpu = 1\nkernel = \"chase\"\nshares = 0\nverify = \"full\"",
            "10:1: shares: a chase that shares memory uses the other flow's chain",
            "verify and chains"},
        Bad{READ "[[scenario.flow]]\ncpu = 1\nkernel = \"read\"\nshares = 0\nsize = \"2MiB\"",
            "11:1: size: is more than that of the flow whose memory it shares", ""},
        Bad{READ "[[scenario.flow]]\ncpu = 1\nkernel = \"read\"\nshares = 0\nmemory = \"local\"",
            "11:1: memory: is that of the flow whose memory it shares", "leave it out"},
        Bad{"cpu = 0\nkernel = \"cas\"\nsize = \"64B\"",
            "5:1: kernel: 0 flows answer the one on CPU 0, where one must", "cas answer"},
        Bad{"cpu = 0\nkernel = \"cas answer\"\nsize = \"64B\"",
            "5:1: kernel: answers no other flow", "shares"},
        Bad{"cpu = 0\nkernel = \"cas\"\nsize = \"64B\"\n[[scenario.flow]]\ncpu = 1\n"
            "kernel = \"cas answer\"\nshares = 0\nrole = \"measured\"",
            "11:1: role: the answering side is not measured", ""}));

INSTANTIATE_TEST_SUITE_P(
    Gpus, BadFlow,
    testing::Values(Bad{"cpu = 0\nkernel = \"device copy\"\nsize = \"1MiB\"\n",
                        "5:1: kernel: unknown kernel 'device copy'", ""},
                    Bad{READ "memory = \"gpu:0\"", "7:1: memory: CPUs cannot reach memory of a GPU",
                        "numatlas transfer"},
                    Bad{"cpu = 0\nkernel = \"copy\"\nsize = \"1MiB\"\nsource = { size = \"1MiB\", "
                        "memory = \"gpu:0\" }",
                        "7:27: memory: CPUs cannot reach memory of a GPU", "numatlas transfer"}));

TEST(ScenarioFile, WhatIsWrongAroundTheFlows) {
  EXPECT_EQ(full_text(error_in("")), "f.toml:1:1: the file: key 'scenario' is missing");
  EXPECT_THAT(full_text(error_in("[[scenario]\n")), HasSubstr("f.toml:1:"));
  EXPECT_EQ(full_text(error_in("scenario = 3")),
            "f.toml:1:1: scenario: expected one or more tables");
  EXPECT_EQ(full_hint(error_in("[[scenarios]]\nname = 1")), "did you mean scenario?");
  EXPECT_EQ(full_text(error_in("{\"program\": \"numatlas\"}")),
            "f.toml: JSON, as results are, and no file of scenarios");
  EXPECT_THAT(full_hint(error_in("{}")), HasSubstr("`numatlas report f.toml` shows results"));
  EXPECT_EQ(full_text(error_in("[[scenario]]\nname = \"a\"")),
            "f.toml:1:1: a scenario: key 'flow' is missing");
  EXPECT_EQ(full_hint(error_in("[[scenario]]\nname = \"a\"\nflow = []")),
            "start each with [[scenario.flow]]");
  EXPECT_THAT(full_text(error_in("[[scenario]]\nname = \"a\\nb\"\n[[scenario.flow]]\n" READ)),
              HasSubstr("f.toml:2:1: name: expected one line"));
  EXPECT_THAT(
      full_text(error_in("[[scenario]]\nname = \"a\"\ntime = \"5w\"\n[[scenario.flow]]\n" READ)),
      HasSubstr("f.toml:3:1: time: '5w' has an unknown unit of time"));
  EXPECT_THAT(
      full_text(error_in("[[scenario]]\nname = \"a\"\nprecision = 2\n[[scenario.flow]]\n" READ)),
      HasSubstr("f.toml:3:1: precision: 2 is not a fraction"));
  EXPECT_EQ(full_text(error_in("cpus = \"1-3\"\n" + with_flow(READ))),
            "f.toml:1:1: cpus: CPU 0 of a flow is not in the list");
}

TEST(ScenarioFile, WhatTheParserWouldNotSurviveIsTold) {
  EXPECT_EQ(full_text(error_in("\n [[=]]")), "f.toml:2:4: expected a name after '['");
  EXPECT_EQ(full_text(error_in("[\n")), "f.toml:1:2: expected a name after '['");
  EXPECT_EQ(full_text(error_in("[[")), "f.toml:1:3: expected a name after '['");
  EXPECT_THAT(full_text(error_in("[]")), HasSubstr("f.toml:1:"));
  EXPECT_EQ(full_text(error_in(with_flow(READ "m\u00e9mory = 1"))),
            "f.toml:7:2: non-ASCII letter outside a comment; in quotes, write it as \\u00e9");
}

TEST(ScenarioFile, LettersOfAnyKindAreTakenInCommentsAndEscaped) {
  const auto file = parse_scenarios(
      "\xef\xbb\xbf# \u00e9 \"\n[[scenario]] # \u3000\nname = \"\\\"\\u00e9#\" # it's \u00e9\n"
      "[[scenario.flow]]\n" READ,
      "f.toml");
  ASSERT_TRUE(file) << full_text(file.error());
  EXPECT_EQ(file->scenarios[0].name, "\"\u00e9#");
}

TEST(ScenarioFile, KeysOfEarlierVersionsAreTaken) {
  const auto file = parse_scenarios(
      "[[scenario]]\nname = \"a\"\nto_the_end = true\n[[scenario.flow]]\ncpu = 0\n"
      "kernel = \"read\"\nsize = \"1MiB\"\n",
      "file");
  EXPECT_TRUE(file) << full_text(file.error());
}

TEST(ScenarioFile, TheFirstUnknownKeyOfTheFileIsTold) {
  EXPECT_THAT(full_text(error_in(with_flow(READ "zebra = 1\napple = 2\n"))), HasSubstr("'zebra'"));
}

TEST(ScenarioFile, ListsWrittenOutHaveALimit) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += "[[scenario]]\nname = \"" + std::to_string(i) +
            "\"\n[[scenario.flow]]\ncpus = \"0-65535\"\n"
            "kernel = \"read\"\nsize = \"1MiB\"\n";
  }
  EXPECT_EQ(full_text(error_in(text)), "f.toml:100:1: cpus: the file has more than 1048576 flows");
}

TEST(ScenarioFile, SharedMemoryThatSuitsBothIsTaken) {
  const auto reads = parse_scenarios(
      with_flow(READ "[[scenario.flow]]\ncpus = \"1-2\"\nkernel = \"read\"\nshares = 0\n"), "f");
  EXPECT_TRUE(reads) << full_text(reads.error());
  const auto line = parse_scenarios(
      with_flow("cpu = 0\nkernel = \"store\"\nsize = \"64B\"\n"
                "[[scenario.flow]]\ncpu = 1\nkernel = \"store answer\"\nshares = 0\n"),
      "f");
  EXPECT_TRUE(line) << full_text(line.error());
}

// Axes --------------------------------------------------------------------------------------------

ScenarioFile read_on(const std::string& text, const Machine* machine = nullptr) {
  const auto file = parse_scenarios(text, "f.toml", machine);
  EXPECT_TRUE(file) << full_text(file.error());
  return file ? *file : ScenarioFile{};
}

std::vector<std::string> names_of(const ScenarioFile& file) {
  std::vector<std::string> names;
  for (const FileScenario& one : file.scenarios) names.push_back(one.name);
  return names;
}

TEST(ScenarioAxes, AScenarioIsMeasuredForEachValueOfThoseThatItNames) {
  const ScenarioFile file = read_on(
      "[axes]\nload = [\"idle\", \"1GB/s\", \"50%\"]\nnode = [1, 0]\nrepeat = \"1-2\"\n"
      "[[scenario]]\nname = \"beside node {node}\"\n"
      "flows = [\"chase cpu:0 mem:{node}\", \"read cpu:1 mem:0 rate:{load}\"]\n"
      "[[scenario]]\nname = \"alone\"\n[[scenario.flow]]\ncpu = \"{repeat}\"\n"
      "kernel = \"chase\"\n");
  EXPECT_THAT(names_of(file),
              ::testing::ElementsAre("beside node 1, load idle", "beside node 0, load idle",
                                     "beside node 1, load 1GB/s", "beside node 0, load 1GB/s",
                                     "beside node 1, load 50%", "beside node 0, load 50%",
                                     "alone, repeat 1", "alone, repeat 2"));
  EXPECT_EQ(file.scenarios[0].title, "beside node");
  EXPECT_EQ(file.scenarios[0].values, (AxisValues{{"load", "idle"}, {"node", "1"}}));
  EXPECT_EQ(file.scenarios[0].flows.size(), 1u);  // idle flows are none
  EXPECT_EQ(file.scenarios[3].flows[1].flow.rate, 1e9);
  EXPECT_EQ(file.scenarios[4].flows[1].rate_part, 0.5);
  EXPECT_EQ(file.scenarios[7].flows[0].cpus, (std::vector<CpuId>{{2}}));
}

TEST(ScenarioAxes, WordsAreWhatTheMachineHas) {
  const auto machine = *read_recorded_machine("numa:2(memory=34359738368) core:2 pu:1");
  const ScenarioFile file = read_on(
      "[axes]\nnode = \"nodes\"\nthreads = \"threads\"\nsize = \"1MiB-2MiB\"\n[[scenario]]\n"
      "name = \"a\"\nflows = [\"read cpu:node:{node} threads:{threads} size:{size}\"]\n",
      &machine);
  ASSERT_EQ(file.scenarios.size(), 2u * 3 * 2);
  EXPECT_EQ(file.scenarios.front().name, "a, node 0, threads 1, size 1MiB");
  EXPECT_EQ(file.scenarios[8].flows[0].cpus, (std::vector<CpuId>{{2}, {3}}));
  EXPECT_EQ(full_text(*file.scenarios[5].skip),
            "f.toml:7:1: 'read cpu:node:0 threads:4 size:2MiB': threads: 4 asked for; 'node:0' has "
            "2 CPUs (node = 0, threads = 4, size = 2MiB)");
  const ScenarioFile lacks = read_on(
      "[axes]\nnode = [0, 7]\n[[scenario]]\nname = \"a\"\nflows = [\"read cpu:0 mem:{node}\"]\n",
      &machine);
  EXPECT_FALSE(lacks.scenarios[0].skip);
  EXPECT_THAT(full_text(*lacks.scenarios[1].skip), HasSubstr("this machine has no NUMA node 7"));
}

struct BadAxes {
  const char *axes, *flow, *message;
};

TEST(ScenarioAxes, WhatIsWrongIsToldWithItsPlaceAndValues) {
  for (const BadAxes& bad :
       {BadAxes{"a = []", "read cpu:{a}", "2:1: a: the list is empty"},
        BadAxes{"a = [true]", "read cpu:{a}",
                "2:1: a: expected a list of texts in \"\" or numbers"},
        BadAxes{"a = 3", "read cpu:{a}", "2:1: a: expected a list in [], not a whole number"},
        BadAxes{"a = \"all\"", "read cpu:{a}", "2:1: a: 'all' is no values"},
        BadAxes{"A = [1]", "read cpu:{A}", "2:1: A: an axis has a name of small letters"},
        BadAxes{"name = [1]", "read cpu:{name}",
                "2:1: name: results have something else of this name"},
        BadAxes{"a = [1]", "read cpu:0", "1:2: axes: no scenario names {a}"},
        BadAxes{"a = [1, 1]", "read cpu:{a}", "2:1: a: '1' is there twice"},
        BadAxes{"a = [1, \"x\"]", "read cpu:0 mem:{a}",
                "5:1: 'read cpu:0 mem:x': memory: 'x' is not a placement (a = x)"},
        BadAxes{"a = [0]", "read cpu:0 threads:{a}",
                "3:1: all flows that are measured are idle (a = 0)"}})
    EXPECT_THAT(
        full_text(error_in(std::string("[axes]\n") + bad.axes +
                           "\n[[scenario]]\nname = \"one\"\nflows = [\"" + bad.flow + "\"]\n")),
        HasSubstr(std::string("f.toml:") + bad.message));
}

// Flows in a line ---------------------------------------------------------------------------------

std::string text_again(const std::string& text) {
  const auto file = parse_flows(text);
  if (!file) return full_text(file.error());
  std::string again;
  for (const FlowEntry& flow : file->scenarios.front().flows)
    again += (again.empty() ? "" : " + ") + flow_text(flow);
  return again;
}

TEST(FlowText, IsReadAsItIsWritten) {
  for (const char* text :
       {"chase cpu:4 mem:0 + read cpu:8-15 mem:1 rate:50%",
        "chase cpu:0 mem:interleave:0,1 size:1536KiB pages:thp touch:9 order:page-local "
        "stride:128B "
        "window:8KiB seed:7 verify:full chains:3 warm_up:0",
        "triad cpu:3,1-2 mem:each:0,1 size:64MiB pages:2M stores:nt rate:1.5GB/s from:0,2,3 "
        "from_size:1GiB from_pages:1G + chase cpu:4",
        "mix cpu:node:1 mix:3:1 mem:local size:4097B + read cpu:0 role:load",
        "cas cpu:0 lines:4 + cas answer cpu:1 shares:0", "read cpu:0-3 threads:2 mem:auto"})
    EXPECT_EQ(text_again(text), text);
  // Words in another order, and longer ones.
  EXPECT_EQ(text_again(" read   size:1GiB memory:bind:1  cpus:2 "), "read cpu:2 mem:1 size:1GiB");
}

TEST(FlowText, AnyFlowIsReadAsItIsWritten) {
  const std::vector<std::vector<std::string>> words{
      {" mem:0", " mem:local", " mem:weighted:0=3,1=1", " mem:each:1,0", " mem:prefer:0", ""},
      {" size:64MiB", " size:65536001B", ""},
      {" pages:thp", " pages:1G", ""},
      {" touch:7", ""},
      {" order:sequential", " order:page-local", ""},
      {" stride:64B", " stride:4KiB", ""},
      {" seed:1", " seed:123456789", ""},
      {" role:load", ""},
      {" rate:2GB/s", " rate:0.001GB/s", " rate:12.345678901GB/s", ""},
      {" warm_up:64MiB", " warm_up:0", ""}};
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string text = "chase cpu:" + std::to_string(random() % 100);
    for (const auto& choices : words) text += choices[random() % choices.size()];
    text += " + read cpu:100-101";
    if (random() % 2 == 0) text += " rate:33.3%";
    EXPECT_EQ(text_again(text), text);
  }
}

TEST(FlowText, WhatIsWrongNamesTheFlow) {
  for (const auto& [text, message] : std::map<std::string, std::string>{
           {"chase cpu:4 cpu:5", "'chase cpu:4 cpu:5': 'cpu' is given twice"},
           {"cpu:4", "'cpu:4': no kernel is named"},
           {"read mem:0", "'read mem:0': a flow: key 'cpu' is missing"},
           {"read cpu:0 sice:1MiB", "'read cpu:0 sice:1MiB': unknown key 'sice' of a flow"},
           {"read cpu:0 rate:150%", "'read cpu:0 rate:150%': rate: '150%' is not"},
           {"read cpu:0 gpu:0", "'read cpu:0 gpu:0': a flow of `run` is of a CPU"},
           {"read cpu:0 + read cpu:0", "CPU 0 has a flow in this scenario already"},
           {"read cpu:1 + read cpu:0 shares:1 rate:10%", "a flow that shares memory cannot"}}) {
    const auto file = parse_flows(text);
    ASSERT_FALSE(file) << text;
    EXPECT_THAT(full_text(file.error()), HasSubstr(message));
    EXPECT_EQ(file.error().kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace numatlas
