// Any file is written as it is read, and whatever stands in one, reading it ends in a file or an
// error.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "kernels/traits.h"
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
std::string some_memory() {
  return *rc::gen::element<std::string>("local", "inherit", "auto", "bind:0", "bind:3,1",
                                        "prefer:2", "interleave:0,1,2", "weighted:0=3,7=255",
                                        "each:0,0,1", "pmem:/mnt/\"a b\", c:d{node} ",
                                        "dax:/dev/dax{socket}.0", "memkind:HBW", "memkind:./\\");
}
PageKind some_pages() {
  return *rc::gen::element(PageKind::base, PageKind::thp, PageKind::huge_2m, PageKind::huge_1g);
}
std::string some_name() {
  return "n" + *rc::gen::container<std::string>(
                   rc::gen::element('a', ' ', '"', '\\', '#', '[', ']', '\'', '='));
}

std::optional<std::string> some_gpu(int number) { return "gpu:" + std::to_string(number); }

/// Copies to a GPU, from one and between two, and chases.
void add_device_keys(FileFlow& flow) {
  flow.seed = perhaps(*rc::gen::arbitrary<std::uint64_t>());
  if (flow.kernel == "device chase") {
    flow.memory = perhaps(some_memory());
    flow.pages = perhaps(some_pages());
    flow.gpu = *rc::gen::inRange(0, 100);
    flow.loads = perhaps(*rc::gen::inRange<std::uint64_t>(1, 1 << 20));
    flow.caches = perhaps(*rc::gen::element(HostCaches::cold, HostCaches::warm));
    return;
  }
  const bool to_gpu = yes(), from_gpu = !to_gpu || yes();
  flow.memory = to_gpu ? some_gpu(1) : perhaps(some_memory());
  if (!to_gpu) flow.pages = perhaps(some_pages());
  if (from_gpu || yes()) {
    flow.source = FileSource{perhaps(*flow.size), from_gpu ? some_gpu(0) : perhaps(some_memory()),
                             from_gpu ? std::nullopt : perhaps(some_pages()), Places{}};
  }
  flow.gpu = perhaps(from_gpu ? 0 : 1);
  if (!(to_gpu && from_gpu)) {
    flow.pin = perhaps(
        *rc::gen::elementOf(std::vector<Pinning>(all_pinnings.begin(), all_pinnings.end())));
  }
  flow.depth = perhaps(*rc::gen::inRange(1, 4097));
  flow.copies = perhaps(*rc::gen::inRange<std::uint64_t>(1, 1 << 15));
  flow.rate = perhaps(std::ldexp(*rc::gen::inRange(1 << 20, 1 << 30), *rc::gen::inRange(0, 12)));
}

FileFlow some_flow(int& next_cpu) {
  FileFlow flow;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    flow.cpus.push_back(CpuId{next_cpu});
    next_cpu += *rc::gen::inRange(1, 3);
  }
  if (yes()) std::reverse(flow.cpus.begin(), flow.cpus.end());
  flow.kernel =
      *rc::gen::element<std::string>("chase", "read", "write", "copy", "scale", "add", "triad",
                                     "update", "mix", "device copy", "device chase");
  const bool chases = flow.kernel == "chase";
  const bool reads_apart = flow.kernel == "copy" || flow.kernel == "triad";
  flow.size = some_size();
  flow.role = perhaps(Role::measured);
  flow.warm_up = perhaps(yes() ? Bytes{0} : some_bytes());
  if (traits_of(flow.kernel).on_gpu) {
    add_device_keys(flow);
    return flow;
  }
  flow.memory = perhaps(some_memory());
  flow.pages = perhaps(some_pages());
  if (reads_apart && yes()) {
    flow.source = FileSource{some_bytes(), perhaps(some_memory()), perhaps(some_pages()), Places{}};
  }
  if (chases) {
    flow.order = perhaps(
        *rc::gen::element(ChainOrder::random, ChainOrder::page_local, ChainOrder::sequential));
    flow.stride = perhaps(Bytes{8 * *rc::gen::inRange<std::uint64_t>(1, 1000)});
    flow.window = perhaps(some_bytes());
    flow.seed = perhaps(*rc::gen::arbitrary<std::uint64_t>());
    flow.verify_full = perhaps(yes());
    flow.chains = perhaps(*rc::gen::inRange(1U, most_chains + 1));
  } else if (flow.kernel != "read") {
    flow.stores = perhaps(*rc::gen::element(Stores::regular, Stores::non_temporal));
  }
  if (flow.kernel == "mix") {
    flow.mix =
        perhaps(std::pair{*rc::gen::inRange<unsigned>(1, 65), *rc::gen::inRange<unsigned>(1, 65)});
  }
  if (flow.kernel == "read" && flow.cpus.size() > 1 && yes()) flow.first_touch = CpuId{next_cpu++};
  flow.rate = perhaps(std::ldexp(*rc::gen::inRange(1 << 20, 1 << 30), *rc::gen::inRange(0, 12)));
  return flow;
}

FileScenario some_scenario() {
  FileScenario scenario;
  scenario.name = some_name();
  if (yes()) scenario.name += "\u00e9\uffe5\U0001f600";
  scenario.time = perhaps(Nanoseconds(*rc::gen::inRange<std::int64_t>(1, 1LL << 53)));
  scenario.precision = perhaps(std::ldexp(*rc::gen::inRange(1, 1 << 30), -30));
  scenario.to_the_end = perhaps(yes());
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
