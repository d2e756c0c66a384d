#include "selftest/selftest.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/peers.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/tree.h"
#include "base/units.h"
#include "base/version.h"
#include "engine/agreement.h"
#include "engine/clock.h"
#include "engine/engine.h"
#include "engine/layout.h"
#include "kernels/kernel.h"
#include "machine/cpu_use.h"
#include "memory/buffer.h"
#include "placement/kept_cpus.h"
#include "placement/placement.h"
#include "placement/residency.h"

namespace numatlas {
namespace {

using Seen = Expected<std::string>;

tl::unexpected<Error> wrong(std::string what, std::string next) {
  return fail(ErrorKind::internal, std::move(what), std::move(next));
}
tl::unexpected<Error> cannot(std::string why) {
  return fail(ErrorKind::unavailable, std::move(why));
}

std::int64_t raw_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Reads it on one CPU after the other: "" or how it went back. `cpus`: on how many it was read.
std::string went_back(Clock& clock, const CpuSet& usable, int& cpus) {
  constexpr int readings = 20'000, most_cpus = 16;
  const KeptCpus kept;
  std::int64_t last = clock.now_ns();
  for (const CpuId cpu : usable) {
    if (cpus == most_cpus) break;
    if (!bind_thread({cpu})) continue;
    ++cpus;
    for (int i = 0; i < readings; ++i) {
      const std::int64_t now = clock.now_ns();
      if (now < last) return fmt::format("went back by {} ns on CPU {}", last - now, cpu.value);
      last = now;
    }
  }
  return "";
}

/// The clock that all times come from: it never goes back, on whichever CPU it is read, reading it
/// is cheap, and it runs as fast as the hardware's own.
Seen check_clock(const CheckInput& input) {
  // A sample lasts 100 times as long as a reading; this is about 20 times what a usual one takes.
  constexpr std::int64_t most_cost_ns = 1000;
  constexpr double most_slew = 1e-3;  // NTP slews clocks by 500 ppm at most
  MonotonicClock clock;
  const auto& settings = input.machine.settings;
  const auto setting = std::ranges::find(settings, "clocksource", &Setting::name);
  const std::string source = setting == settings.end() ? "unknown" : setting->value;
  const std::string next = fmt::format(
      "the kernel's clock source is {}: see the kernel log for why it is not tsc (x86) or "
      "arch_sys_counter (Arm), and /sys/devices/system/clocksource",
      source);
  int cpus = 0;
  if (const std::string back = went_back(clock, input.machine.usable_cpus(), cpus); !back.empty())
    return wrong(back, next);
  const std::int64_t cost = timer_overhead_ns(clock);
  if (cost > most_cost_ns) return wrong(fmt::format("one reading takes {} ns", cost), next);
  const std::int64_t raw = raw_ns(), start = clock.now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double pace =
      static_cast<double>(clock.now_ns() - start) / static_cast<double>(raw_ns() - raw);
  if (std::abs(pace - 1) > most_slew)
    return wrong(fmt::format("runs {:.4f} times as fast as the hardware's", pace), next);
  return fmt::format("{}, {} ns per reading, monotonic on {}", source, cost,
                     count_text(cpus, "CPU"));
}

Expected<void> verified(const KernelSpec& spec, const Buffer& memory) {
  const auto kernel = make_kernel(spec);
  TRY(kernel->prepare({memory.data(), memory.bytes()}));
  // Two passes and a part of a third.
  kernel->run(kernel->steps_per_pass() * 2 + 3);
  return kernel->verify();
}

/// Each kernel with each kind of stores that there is for it; the ping-pong takes two CPUs, and the
/// chain is a check of its own.
std::vector<KernelSpec> specs_of_kernels() {
  std::vector<KernelSpec> all;
  for (const std::string& name : kernel_names()) {
    const KernelTraits& traits = traits_of(name);
    if (!traits.streams()) continue;
    KernelSpec spec = kernel_named(name);
    all.push_back(spec);
    if (!traits.writes || !has_non_temporal_stores()) continue;
    spec.stores = Stores::non_temporal;
    all.push_back(spec);
  }
  return all;
}

Seen check_kernels(const CheckInput&) {
  const auto memory = TRY(allocate({Bytes{1 << 20}, {MemoryMode::inherit, {}}}));
  const std::string used = instruction_set();
  Expected<void> right;
  std::vector<std::string> sets;
  std::size_t runs = 0;
  for (const std::string& set : instruction_sets()) {
    if (!use_instruction_set(set)) continue;
    sets.push_back(set);
    for (const KernelSpec& spec : specs_of_kernels()) {
      ++runs;
      const auto one = verified(spec, *memory);
      if (!one && right)
        right = wrong(fmt::format("{} with {} and {} stores: {}", name_of(spec), set,
                                  name_of(spec.stores), full_text(one.error())),
                      "report this line: the CPU, its emulator or this build computes wrongly");
    }
  }
  (void)use_instruction_set(used);
  TRY(right);
  return fmt::format("{} runs verified, with {}", runs, fmt::join(sets, ", "));
}

/// One cycle through every line of its memory, walked once.
Seen check_chain(const CheckInput&) {
  constexpr Bytes size{4 << 20};
  const auto memory = TRY(allocate({size, {MemoryMode::inherit, {}}}));
  ChaseParameters chase;
  chase.verify_full = true;  // `prepare` walks it
  const auto kernel = make_kernel({chase});
  Expected<void> right = kernel->prepare({memory->data(), memory->bytes()});
  if (right) {
    kernel->run(kernel->steps_per_pass());
    right = kernel->verify();
  }
  if (!right)
    return wrong(full_text(right.error()), "report this line; memory that loses bits does it too");
  return fmt::format("{} lines of {} form one cycle", kernel->steps_per_pass(),
                     to_rounded_text(size));
}

/// Asked from the kernel page by page.
Seen check_placement(const CheckInput& input) {
  constexpr Bytes size{1 << 20};
  const NodeSet nodes = input.machine.ordinary_memory_nodes();
  if (nodes.empty()) return cannot("the kernel shows no NUMA nodes");
  for (const NodeId node : nodes) {
    const auto memory = TRY(allocate({size, {MemoryMode::bind, {{node, 1}}}}));
    std::memset(memory->data(), 1, memory->bytes());
    const Residency seen = memory->residency();
    if (!seen.problem.empty()) return cannot("cannot be observed: " + seen.problem);
    const double there = seen.fraction_on({node}).value_or(0);
    if (there < 1)
      return wrong(fmt::format("only {:.0f} % of {} bound to node {} lie there", there * 100,
                               to_rounded_text(size), node.value),
                   "see numactl --hardware for free memory, and whether NUMA balancing or a "
                   "policy of the container moves pages");
  }
  return fmt::format("obeyed and observed on node{} {}", nodes.size() == 1 ? "" : "s",
                     to_list(nodes));
}

/// The page sizes that can be had are those that the memory has.
Seen check_pages(const CheckInput& input) {
  constexpr double least_thp = 0.5;  // what a kernel must manage where memory is not fragmented
  std::vector<std::string> had, missing;
  for (const PageKind kind :
       {PageKind::base, PageKind::thp, PageKind::huge_2m, PageKind::huge_1g}) {
    const Bytes size{kind == PageKind::huge_1g ? gib : 8 * mib};
    const std::string name = name_of(kind);
    if (page_kind_problem(kind, input.machine, {}, size)) {
      missing.push_back(name);
      continue;
    }
    const auto memory = TRY(allocate({size, {MemoryMode::inherit, {}}, kind}));
    if (kind != PageKind::huge_1g) std::memset(memory->data(), 1, memory->bytes());
    const Residency seen = memory->residency();
    if (!seen.page_size) return cannot("page sizes are not visible (/proc/self/smaps)");
    const std::string found = name + " (" + seen.page_text() + ")";
    const bool right = kind == PageKind::thp    ? seen.thp_fraction.value_or(0) >= least_thp
                       : kind == PageKind::base ? seen.page_size == input.machine.page_size
                                                : *seen.page_size == huge_page_size(kind);
    if (!right)
      return wrong(found + " is not what was asked for",
                   kind == PageKind::thp ? "free memory may be too fragmented: as root, echo 1 "
                                           ">/proc/sys/vm/compact_memory"
                                         : "report this line with the output of numatlas topology");
    had.push_back(found);
  }
  return fmt::format("{}{}", fmt::join(had, ", "),
                     missing.empty() ? ""
                                     : fmt::format("; not available: {} (numatlas features "
                                                   "says why)",
                                                   fmt::join(missing, ", ")));
}

/// Each worker of this process reads 1 MiB of its own for a moment, all at once.
Expected<std::vector<Trace>> read_together(const CheckInput& input,
                                           const std::vector<WorkerPlacement>& workers) {
  constexpr Bytes size{1 << 20};
  const auto alone = make_single_comm();
  auto layout = TRY(gather_layout(*alone, workers));
  const auto engine = TRY(make_engine(*alone, layout, input.machine, {}));
  Scenario scenario{"selftest", {}, {}};
  scenario.stop.time = std::chrono::milliseconds(300);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Flow flow;
    flow.worker = static_cast<int>(i);
    flow.kernel = {LoopParameters{Operation::read}};
    flow.region.bytes = size;
    flow.region.placement = {MemoryMode::inherit, {}};
    flow.warm_up = size;
    scenario.flows.push_back(std::move(flow));
  }
  const KeptCpus kept;  // worker 0 is this thread
  return engine->run(scenario);
}

Seen check_overlap(const CheckInput& input) {
  constexpr double least_overlap = 0.9;
  if (input.workers.size() < 2) return cannot("one CPU: nothing runs beside it");
  double overlap = 1;
  for (const Trace& trace : TRY(read_together(input, input.workers))) {
    if (trace.wrong) return wrong(full_text(*trace.wrong), "report this line");
    overlap = std::min(overlap, trace.overlap.value_or(0));
  }
  const std::string found =
      fmt::format("workers on CPUs {} and {} ran concurrently {:.0f} % of the time",
                  to_list(input.workers[0].cpus), to_list(input.workers[1].cpus), overlap * 100);
  if (overlap >= least_overlap) return found;
  return wrong(found,
               "other programs or a CPU quota of the control group (cpu.max) keep them apart");
}

constexpr std::size_t dealt_hosts = 8, dealt_rounds = 10, planted = 5;

/// Samples dealt out to hosts and rounds, one slower than the others.
Rows rows_of(const std::vector<Sample>& samples) {
  // Samples of a busy machine vary, but not like that.
  constexpr double times_as_long = 2;
  Rows run;
  const std::size_t each = samples.size() / (dealt_hosts * dealt_rounds);
  for (std::size_t i = 0; i < dealt_hosts; ++i) {
    run.hosts.push_back(fmt::format("worker {}", i));
    Row& row = run.rows.emplace_back();
    row.name = row.host_key = row.figure = "read";
    row.unit = "B/s";
    row.host = i;
    for (std::size_t round = 0; round < dealt_rounds; ++round) {
      std::vector<double> rates;
      for (std::size_t k = 0; k < each; ++k) {
        const Sample& one = samples[(round * each + k) * dealt_hosts + i];
        rates.push_back(1e9 / static_cast<double>(std::max<std::int64_t>(1, one.duration_ns)));
      }
      row.rounds.push_back(summarize(rates)->median / (i == planted ? times_as_long : 1));
    }
    row.estimate = summarize(row.rounds)->median;
  }
  return run;
}

/// The rule that names slow nodes, on this machine's own samples: it names the one that was made
/// slow, and no other.
Seen check_slow_worker(const CheckInput& input) {
  const auto traces = TRY(read_together(input, {input.workers.front()}));
  const std::vector<Sample>& samples = traces.front().samples;
  if (samples.size() < dealt_hosts * dealt_rounds)
    return cannot(fmt::format("{} samples in 300 ms, {} are needed", samples.size(),
                              dealt_hosts * dealt_rounds));
  const Rows run = rows_of(samples);
  const std::vector<std::size_t> found = judge_peers(hosts_of(run), {}).slow_hosts();
  if (found == std::vector<std::size_t>{planted})
    return fmt::format("1 of {} workers at half its speed was named, no other", dealt_hosts);
  std::vector<std::string> names;
  for (const std::size_t host : found) names.push_back(run.hosts[host]);
  return wrong(names.empty() ? "a worker at half its speed was not noticed"
                             : fmt::format("named {}; worker {} was at half its speed",
                                           names_text(names), planted),
               "the machine's speed changes more than a worker at half its speed: see "
               "interference");
}

/// What else uses the CPUs, and settings that change speed while something is measured.
Seen check_interference(const CheckInput& input) {
  const Tree& tree = running_system();
  std::vector<std::string> settings;
  for (const Setting& setting : input.machine.settings) {
    if (!setting.warning.empty())
      settings.push_back(fmt::format("{} = {}", setting.name, setting.value));
  }
  const CpuId cpu = input.workers.front().cpus.empty() ? CpuId{0} : input.workers.front().cpus[0];
  const auto before = cpu_frequency(tree, cpu);
  const CpuWatch watch(tree, input.comm.local_pids());
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const CpuUse use = watch.use();
  const auto after = cpu_frequency(tree, cpu);
  std::string more;
  if (before && after)
    more =
        fmt::format("; CPU {} at {:.2f} to {:.2f} GHz", cpu.value, *before * 1e-9, *after * 1e-9);
  if (!settings.empty())
    more += fmt::format("; settings that may disturb: {} (numatlas topology says how)",
                        fmt::join(settings, ", "));
  if (!use.others) return cannot("cannot be seen: " + use.reason + more);
  if (is_disturbed(use))
    return wrong(cpu_use_warning({{"", use}}),
                 "stop other programs, or measure on CPUs that are idle (--cpus)" + more);
  return fmt::format("other programs used {:.2f} of {} CPUs", *use.others, use.cpus) + more;
}

/// Ranks agree: on the version, and on what they would run.
Seen check_ranks(const CheckInput& input) {
  Comm& comm = input.comm;
  if (comm.size() == 1) return cannot("one rank; mpirun or srun starts more");
  const std::string mine =
      fmt::format("{} with {}; {}", version, instruction_set(), fmt::join(kernel_names(), ","));
  const auto all = TRY(comm.all_gather(mine));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all.front()) continue;
    const auto short_text = [](const std::string& text) { return text.substr(0, text.find(';')); };
    return wrong(fmt::format("rank {} is numatlas {}, rank 0 is {}", rank, short_text(all[rank]),
                             short_text(all.front())),
                 "start the same installation on all hosts; --isa chooses a set that all have");
  }
  return fmt::format("{} ranks on {}: same version and kernels", comm.size(),
                     count_text(comm.layout().hosts.size(), "host"));
}

/// Two workers of this rank on CPUs that are not threads of one core, where it has such.
Expected<std::vector<WorkerPlacement>> workers_of(const Machine& machine, Comm& comm) {
  const auto task = TRY(gather_task_context(comm, machine));
  PlacementSpec spec;
  spec.cpus.form = CpuSpec::Form::cores;
  spec.threads = 2;
  auto workers = resolve_placement(spec, machine, task, 1);
  if (!workers) return workers;
  const bool apart = workers->size() == 2 && workers->front().cpus != workers->back().cpus;
  if (!apart) workers->resize(1);
  return workers;
}

/// What one rank found, or all.
struct Outcome {
  std::string verdict, detail;
  std::string next;  ///< of a failed check: what to do
};

Outcome outcome_of(const Expected<std::string>& seen) {
  if (seen) return {"passed", *seen, ""};
  const Error& error = seen.error();
  if (error.kind == ErrorKind::unavailable || error.kind == ErrorKind::permission ||
      error.kind == ErrorKind::interrupted)
    return {"skipped", with_hint(full_text(error), error), ""};
  return {"failed", full_text(error), full_hint(error)};
}

/// Of all ranks the first that failed, else the first that passed.
Outcome worst_of(const std::vector<std::string>& sent, const Comm& comm) {
  std::vector<Outcome> all;
  for (const std::string& text : sent)
    all.push_back(outcome_of(
        text.starts_with(error_mark) ? Expected<std::string>(fail(error_received(text))) : text));
  if (all.size() == 1) return all.front();
  for (const char* verdict : {"failed", "passed", "skipped"}) {
    const auto is_it = [&](const Outcome& one) { return one.verdict == verdict; };
    const auto first = std::ranges::find_if(all, is_it);
    if (first == all.end()) continue;
    const auto rank = static_cast<std::size_t>(first - all.begin());
    const auto host = static_cast<std::size_t>(comm.layout().host_of[rank]);
    const auto alike = std::ranges::count_if(all, is_it);
    first->detail = fmt::format(
        "rank {} on {}: {}{}", rank, comm.layout().hosts[host], first->detail,
        alike > 1 ? fmt::format("; {} on {} of {} ranks", verdict, alike, all.size()) : "");
    return *first;
  }
  return all.front();
}

Expected<Case> run_check(const Check& check, const CheckInput& input) {
  TRY(input.comm.barrier());
  const auto start = std::chrono::steady_clock::now();
  const Expected<std::string> mine = check.run(input);
  Outcome found = outcome_of(mine);
  if (!check.of_all_ranks) {
    const auto all = TRY(input.comm.gather(mine ? *mine : error_to_send(mine.error())));
    if (input.comm.rank() == 0) found = worst_of(all, input.comm);
  }
  Case one;
  one.name = check.name;
  one.kernel = "";
  const std::string next = found.next.empty() ? "" : "; next: " + found.next;
  one.labels = {
      {"test", check.name}, {"verdict", found.verdict}, {"evidence", found.detail + next}};
  if (found.verdict != "passed") one.reason = found.detail;
  if (found.verdict == "skipped") {
    one.status = Status::skipped;
    return one;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  one.figures = {plain_figure("failed", "", found.verdict == "failed" ? 1 : 0),
                 plain_figure("took", "s", took.count())};
  return one;
}

}  // namespace

const std::vector<Check>& all_checks() {
  static const std::vector<Check> all{
      {"clock", "never goes back on any CPU, is cheap to read, and keeps the hardware's pace",
       check_clock, true},
      {"kernels", "every kernel computes what it should, with each instruction set of this CPU",
       check_kernels, true},
      {"chain", "the pointer chase visits every line once before it comes back to the first",
       check_chain, true},
      {"placement", "memory bound to each node lies there, page by page", check_placement, true},
      {"pages", "base, transparent and pool huge pages are obtained where available", check_pages},
      {"overlap", "two workers run at the same time", check_overlap},
      {"slow-worker", "the slow-host rule names a worker that was made slow, and no other",
       check_slow_worker},
      {"interference", "no other program, hypervisor or changing frequency disturbs",
       check_interference},
      {"ranks", "all ranks have the same version, kernels and clock", check_ranks, false, true}};
  return all;
}

Expected<std::vector<Case>> run_checks(const Machine& machine, Comm& comm,
                                       const std::vector<std::string>& only, bool quick) {
  auto workers = workers_of(machine, comm);
  TRY(agree(comm, error_of(workers)));
  const CheckInput input{machine, comm, *std::move(workers)};
  std::vector<Case> cases;
  for (const Check& check : all_checks()) {
    const bool chosen = only.empty() || std::ranges::find(only, check.name) != only.end();
    if (chosen && (!quick || check.is_quick)) cases.push_back(TRY(run_check(check, input)));
  }
  return cases;
}

}  // namespace numatlas
