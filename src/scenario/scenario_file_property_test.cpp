// Any file is written as it is read, and whatever stands in one, reading it ends in a file or an
// error.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "kernels/traits.h"
#include "memory/source.h"
#include "scenario/scenario_file.h"

namespace numatlas {
namespace {

bool yes() { return *rc::gen::arbitrary<bool>(); }
template <class T>
std::optional<T> perhaps(T value) {
  return yes() ? std::optional<T>(value) : std::nullopt;
}
/// Whole pages, so that a chain of any stride below has room.
Bytes some_size() { return Bytes{64 * kib * *rc::gen::inRange<std::uint64_t>(1, 1 << 30)}; }
Bytes some_bytes() { return Bytes{*rc::gen::inRange<std::uint64_t>(1, 1ULL << 53)}; }
MemorySpec some_memory() {
  return *parse_memory_spec(*rc::gen::element<std::string>(
      "local", "inherit", "auto", "bind:0", "bind:3,1", "prefer:2", "interleave:0,1,2",
      "weighted:0=3,7=255", "each:0,0,1", "pmem:/mnt/\"a b\", c:d{node} ", "dax:/dev/dax{socket}.0",
      "memkind:HBW", "memkind:./\\"));
}
PageKind some_pages() {
  return *rc::gen::element(PageKind::base, PageKind::thp, PageKind::huge_2m, PageKind::huge_1g);
}
std::string some_name() {
  return "n" + *rc::gen::container<std::string>(
                   rc::gen::element('a', ' ', '"', '\\', '#', '[', ']', '\'', '='));
}

MemorySpec some_gpu(int number) { return *parse_memory_spec("gpu:" + std::to_string(number)); }

template <class T, class Value>
void give(FlowEntry& entry, const char* key, T& member, const Value& value) {
  member = value;
  entry.keys.insert(key);
}
template <class T, class Value>
void perhaps_give(FlowEntry& entry, const char* key, T& member, const Value& value) {
  if (yes()) give(entry, key, member, value);
}

/// Copies to a GPU, from one and between two, and chases.
void add_device_keys(FlowEntry& entry) {
  KernelSpec& kernel = entry.flow.kernel;
  perhaps_give(entry, "seed", kernel.seed, *rc::gen::arbitrary<std::uint64_t>());
  if (auto* const chase = kernel.find<DeviceChaseParameters>()) {
    perhaps_give(entry, "memory", entry.memory, some_memory());
    perhaps_give(entry, "pages", entry.flow.region.pages, some_pages());
    give(entry, "gpu", chase->gpu, *rc::gen::inRange(0, 100));
    perhaps_give(entry, "loads", chase->loads, *rc::gen::inRange<std::uint64_t>(1, 1 << 20));
    perhaps_give(entry, "caches", chase->caches,
                 *rc::gen::element(HostCaches::cold, HostCaches::warm));
    return;
  }
  auto& work = kernel.as<DeviceCopyParameters>();
  const bool to_gpu = yes(), from_gpu = !to_gpu || yes();
  if (to_gpu || yes()) give(entry, "memory", entry.memory, to_gpu ? some_gpu(1) : some_memory());
  if (!to_gpu) perhaps_give(entry, "pages", entry.flow.region.pages, some_pages());
  if (from_gpu || yes()) {
    give(entry, "source", entry.flow.source, Region{});
    Region& source = *entry.flow.source;
    perhaps_give(entry, "source.size", source.bytes, entry.flow.region.bytes);
    if (from_gpu || yes())
      give(entry, "source.memory", entry.source_memory, from_gpu ? some_gpu(0) : some_memory());
    if (!from_gpu) perhaps_give(entry, "source.pages", source.pages, some_pages());
  }
  perhaps_give(entry, "gpu", work.gpu, from_gpu ? 0 : 1);
  if (!(to_gpu && from_gpu)) {
    perhaps_give(
        entry, "pin", work.pinning,
        *rc::gen::elementOf(std::vector<Pinning>(all_pinnings.begin(), all_pinnings.end())));
  }
  perhaps_give(entry, "depth", work.depth, *rc::gen::inRange(1, 4097));
  perhaps_give(entry, "copies", work.copies, *rc::gen::inRange<std::uint64_t>(1, 1 << 15));
}

FlowEntry some_flow(int& next_cpu) {
  FlowEntry entry;
  Flow& flow = entry.flow;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    entry.cpus.push_back(CpuId{next_cpu});
    next_cpu += *rc::gen::inRange(1, 3);
  }
  if (yes()) std::reverse(entry.cpus.begin(), entry.cpus.end());
  const auto kernel =
      *rc::gen::element<std::string>("chase", "read", "write", "copy", "scale", "add", "triad",
                                     "update", "mix", "device copy", "device chase");
  flow.kernel = kernel_named(kernel);
  give(entry, "size", flow.region.bytes, some_size());
  perhaps_give(entry, "role", flow.role, Role::measured);
  perhaps_give(entry, "warm_up", flow.warm_up, yes() ? Bytes{0} : some_bytes());
  if (kernel != "device chase")
    perhaps_give(entry, "rate", flow.rate,
                 std::ldexp(*rc::gen::inRange(1 << 20, 1 << 30), *rc::gen::inRange(0, 12)));
  if (traits_of(kernel).on_gpu) {
    add_device_keys(entry);
    return entry;
  }
  perhaps_give(entry, "memory", entry.memory, some_memory());
  perhaps_give(entry, "pages", flow.region.pages, some_pages());
  if ((kernel == "copy" || kernel == "triad") && yes()) {
    give(entry, "source", flow.source, Region{});
    give(entry, "source.size", flow.source->bytes, some_bytes());
    perhaps_give(entry, "source.memory", entry.source_memory, some_memory());
    perhaps_give(entry, "source.pages", flow.source->pages, some_pages());
  }
  if (kernel == "chase") {
    auto& chain = flow.kernel.as<ChaseParameters>();
    perhaps_give(
        entry, "order", chain.order,
        *rc::gen::element(ChainOrder::random, ChainOrder::page_local, ChainOrder::sequential));
    perhaps_give(entry, "stride", chain.stride,
                 Bytes{8 * *rc::gen::inRange<std::uint64_t>(1, 1000)});
    perhaps_give(entry, "window", chain.page, some_bytes());
    perhaps_give(entry, "seed", flow.kernel.seed, *rc::gen::arbitrary<std::uint64_t>());
    perhaps_give(entry, "verify", chain.verify_full, yes());
    if (chain.order != ChainOrder::page_local)  // each needs two windows
      perhaps_give(entry, "chains", chain.chains, *rc::gen::inRange(1U, most_chains + 1));
    if (!entry.has("chains"))
      perhaps_give(entry, "tail_group", chain.tail_group,
                   *rc::gen::inRange(0U, most_tail_group + 1));
  } else if (kernel != "read") {
    perhaps_give(entry, "stores", flow.kernel.stores,
                 *rc::gen::element(Stores::regular, Stores::non_temporal));
  }
  if (kernel == "mix") {
    auto& mix = flow.kernel.as<MixParameters>();
    perhaps_give(entry, "mix", mix.reads, *rc::gen::inRange<unsigned>(1, 65));
    if (entry.has("mix")) mix.writes = *rc::gen::inRange<unsigned>(1, 65);
  }
  if (kernel == "read" && entry.cpus.size() > 1)
    perhaps_give(entry, "first_touch", entry.first_touch, CpuId{next_cpu++});
  return entry;
}

FileScenario some_scenario() {
  FileScenario scenario;
  scenario.name = some_name();
  if (yes()) scenario.name += "\u00e9\uffe5\U0001f600";
  scenario.time = perhaps(Nanoseconds(*rc::gen::inRange<std::int64_t>(1, 1LL << 53)));
  scenario.precision = perhaps(std::ldexp(*rc::gen::inRange(1, 1 << 30), -30));
  int cpu = *rc::gen::inRange(0, 2000);
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i) scenario.flows.push_back(some_flow(cpu));
  return scenario;
}

RC_GTEST_PROP(ScenarioFileProperty, IsReadAsItWasWritten, ()) {
  ScenarioFile file;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) file.scenarios.push_back(some_scenario());
  if (yes()) {
    file.cpus = cpus_named(file);
    std::reverse(file.cpus.begin(), file.cpus.end());
  }
  const std::string text = text_of(file, {some_name()});
  const auto read = parse_scenarios(text, "f");
  if (!read) RC_FAIL(full_text(read.error()) + "\n" + text);
  if (!(*read == file)) RC_FAIL("another file:\n" + text + text_of(*read, {}));
  for (std::size_t i = 0; i < file.scenarios.size(); ++i) {
    for (std::size_t k = 0; k < file.scenarios[i].flows.size(); ++k)
      RC_ASSERT(read->scenarios[i].flows[k].flow == file.scenarios[i].flows[k].flow);
  }
}

/// A file with some bytes changed, dropped or doubled: near enough to a right one to get far.
RC_GTEST_PROP(ScenarioFileProperty, AnyBytesEndInAFileOrAnError, ()) {
  ScenarioFile file;
  file.scenarios.push_back(some_scenario());
  std::string text = text_of(file, {});
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto length = std::min(*rc::gen::inRange<std::size_t>(0, 12), text.size() - at);
    std::string other;
    for (const char* piece : *rc::gen::container<std::vector<const char*>>(
             rc::gen::element("\"", "[", "]", "=", "\n", "0", "-", "{", "}", "\xff", "\x01", "e",
                              ".", "'", "#", "\\", "\u00e9", "\u3000", "\ufb00", "\U0001f600",
                              "inf", "1979-05-27", "0x", "_", ",", "\r")))
      other += piece;
    text.replace(at, length, yes() ? other : text.substr(at, length) + text.substr(at, length));
  }
  const auto read = parse_scenarios(text, "f");
  if (read) {
    RC_ASSERT(!read->scenarios.empty());
    RC_ASSERT(parse_scenarios(text_of(*read, {}), "f") == *read);
  } else {
    RC_ASSERT(read.error().kind == ErrorKind::usage);
    RC_ASSERT(full_text(read.error()).starts_with("f:"));
  }
}

RC_GTEST_PROP(ScenarioFileProperty, RandomTextEndsInAnError, (const std::string& text)) {
  RC_ASSERT(!parse_scenarios(text, "f"));
}

}  // namespace
}  // namespace numatlas
