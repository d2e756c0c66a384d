#include "memory/source.h"

#include <cstddef>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/residency.h"
#include "placement/source_text.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

MemoryPlacement source_placement(const std::string& text) {
  const auto spec = parse_memory_spec(text);
  EXPECT_TRUE(spec) << text << ": " << (spec ? "" : full_text(spec.error()));
  return spec ? spec->single : MemoryPlacement{};
}

Error source_refusal(const std::string& text) {
  const auto spec = parse_memory_spec(text);
  EXPECT_FALSE(spec) << text << " was accepted";
  return spec ? Error{} : spec.error();
}

TEST(SourceGrammar, PathsAreTakenAsTheyAreWritten) {
  for (const char* text :
       {"pmem:/mnt/pmem0", "pmem:/mnt/a b, c:d=e", "pmem: /x ", "pmem:relative", "pmem:/ü/{node}",
        "memkind:/mnt/x y", "memkind:./x", "memkind:DAX_KMEM"}) {
    EXPECT_EQ(source_placement(text).text(), text);
    EXPECT_EQ(source_placement(text).mode, MemoryMode::inherit);
  }
  EXPECT_EQ(source_value(source_placement("pmem:/a:b")), "/a:b");
  for (const char* word : {"pmem", "memkind"})
    EXPECT_EQ(source_of(source_placement(std::string(word) + ":/a")).word, word);
  EXPECT_EQ(source_of(source_placement("memkind:hbw")).word, "memkind");
  EXPECT_EQ(source_of(source_placement("gpu:3")).word, "gpu");
  EXPECT_EQ(source_of(source_placement("bind:0")).word, "");
}

TEST(SourceGrammar, Refusals) {
  EXPECT_THAT(full_text(source_refusal("pmem")), HasSubstr("'pmem:' names no folder"));
  EXPECT_THAT(full_text(source_refusal("pmem:")), HasSubstr("names no folder"));
  EXPECT_THAT(full_text(source_refusal("memkind:")), HasSubstr("names no kind and no folder"));
  EXPECT_THAT(full_text(source_refusal("pmem:/a\nb")), HasSubstr("control characters"));
  EXPECT_THAT(full_text(source_refusal("pmem:/a\x7f")), HasSubstr("control characters"));
  for (const char* wrong : {"pmem:/\xff", "pmem:/\xc0\xaf", "pmem:/\xed\xa0\x80", "pmem:/\xe2\x82",
                            "memkind:\xf5\x80\x80\x80", "memkind:/\xe0\x80\x80"}) {
    EXPECT_THAT(full_text(source_refusal(wrong)), HasSubstr("not UTF-8"));
  }
  EXPECT_THAT(full_hint(source_refusal("/mnt/pmem0")),
              HasSubstr("memkind:KIND, memkind:DIR, pmem:DIR"));
}

TEST(SourcePlace, BracesAreTheWorkersNumbers) {
  // Nodes 0, 2 and 7 with CPUs; node 1 has none.
  Machine machine = testing::build({{0, {{0}}}, {2, {{4}}}, {7, {{5}}}});
  for (Cpu& cpu : machine.cpus) cpu.package = cpu.id.value == 0 ? 0 : 3;
  const auto placed = [&](const char* text, const CpuSet& cpus) {
    const auto result = resolve_memory(*parse_memory_spec(text), machine, 0, cpus);
    return result ? result->text() : full_text(result.error());
  };
  EXPECT_EQ(placed("pmem:/mnt/pmem{node}", {CpuId{4}}), "pmem:/mnt/pmem2");
  EXPECT_EQ(placed("pmem:/mnt/{socket}.{node}{node}", {CpuId{5}}), "pmem:/mnt/3.77");
  EXPECT_EQ(placed("memkind:/mnt/{socket}/{x}", {CpuId{0}}), "memkind:/mnt/0/{x}");
  EXPECT_EQ(placed("pmem:/mnt/{socket}", {CpuId{4}, CpuId{5}}), "pmem:/mnt/3");
  EXPECT_EQ(placed("pmem:/mnt/{node}", {}), "pmem:/mnt/{node}");
  EXPECT_EQ(placed("pmem:/mnt/all", {CpuId{4}, CpuId{5}}), "pmem:/mnt/all");
  EXPECT_THAT(placed("pmem:/mnt/{node}", {CpuId{4}, CpuId{5}}),
              AllOf(HasSubstr("pmem:/mnt/{node}: a worker on CPU 4-5 has no one number"),
                    HasSubstr("nodes 2,7")));
  EXPECT_THAT(placed("pmem:/mnt/{socket}", {CpuId{0}, CpuId{5}}), HasSubstr("several packages"));
  machine.cpus.back().package = std::nullopt;
  EXPECT_THAT(placed("pmem:/mnt/{socket}", {CpuId{5}}), HasSubstr("its package is not known"));
}

TEST(SourcePlace, WorkersGetTheirOwnAndNoPolicyIsInherited) {
  Machine machine = testing::build({{0, {{0}}}, {1, {{1}}}});
  machine.source = "live";
  PlacementSpec spec;
  spec.memory = *parse_memory_spec("pmem:/mnt/pmem{node}");
  TaskContext task;
  task.inherited = MemoryPlacement{MemoryMode::bind, {{NodeId{1}, 1}}};
  const auto workers = resolve_placement(spec, machine, task, 0);
  ASSERT_TRUE(workers) << full_text(workers.error());
  ASSERT_EQ(workers->size(), 2u);
  EXPECT_EQ((*workers)[0].memory.text(), "pmem:/mnt/pmem0");
  EXPECT_EQ((*workers)[1].memory.text(), "pmem:/mnt/pmem1");
  EXPECT_EQ((*workers)[1].memory, source_placement("pmem:/mnt/pmem1"));
  EXPECT_EQ((*workers)[1].memory.in_force(), source_placement("pmem:/mnt/pmem1"));
}

TEST(SourceText, LongPathsAreCutInMessages) {
  MemoryPlacement placement = source_placement("pmem:/" + std::string(5000, 'x'));
  EXPECT_LT(subject_of(placement).size(), 400u);
  EXPECT_THAT(subject_of(placement), ::testing::EndsWith("..."));
  EXPECT_EQ(placement.text().size(), 5006u);
}

TEST(SourceResidency, ByTheDevices) {
  Residency seen;
  seen.pages_total = seen.pages_asked = seen.untouched = 5;
  seen.page_size = Bytes{2 * mib};
  seen.thp_fraction = 0.0;
  Residency striped = seen, unknown = seen;
  tell_by_devices(seen, {NodeId{2}});
  EXPECT_EQ(seen.pages_by_node, (std::map<int, std::size_t>{{2, 5}}));
  EXPECT_EQ(seen.untouched, 0u);
  EXPECT_EQ(seen.page_text(), "2 MiB (node by the device)");
  EXPECT_EQ(seen.problem, "");
  tell_by_devices(striped, {NodeId{2}, NodeId{3}, NodeId{2}});
  EXPECT_EQ(striped.pages_by_node, (std::map<int, std::size_t>{{2, 3}, {3, 2}}));
  EXPECT_EQ(striped.page_text(), "2 MiB (node by the devices)");
  tell_by_devices(unknown, {});
  EXPECT_TRUE(unknown.pages_by_node.empty());
  EXPECT_THAT(unknown.problem, HasSubstr("does not say its own"));
  EXPECT_EQ(unknown.page_text(), "2 MiB");
}

}  // namespace
}  // namespace numatlas
