#include "advise/look.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/process_stat.h"
#include "placement/policy.h"
#include "placement/residency.h"

namespace numatlas {
namespace {

/// The number after "Name:" in a line of it; nullopt in others.
std::optional<std::uint64_t> number_after(const std::string& line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  std::string_view rest = std::string_view(line).substr(name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return code == std::errc{} ? std::optional(value) : std::nullopt;
}

using Clock = std::chrono::steady_clock;

/// The CPU time of this thread: what another program takes meanwhile is not the observer's.
std::chrono::nanoseconds own_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

class Observer {
 public:
  Observer(const Machine& machine, Look& look) : machine_(machine), look_(look) {}

  void observe(pid_t process) {
    const auto now = Clock::now();
    if (now < next_) return;
    const auto before = own_cpu_time();
    sample(process, std::chrono::duration<double>(now - start_).count());
    const auto pause = pause_between_samples(own_cpu_time() - before, Clock::now() - start_);
    next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
  }

 private:
  void sample(pid_t root, double at) {
    MemorySample memory;
    memory.at = at;
    int threads = 0, processes = 0;
    for (const pid_t process : processes_below(root)) {
      const auto state = read_state(process);
      if (!state) continue;
      ++processes;
      threads = std::max(threads, state->threads);
      memory.huge.value += state->huge.value;
      add_nodes(process, *state, memory);
      look_at_libraries(process);
      for (const CpuSet& cpus : thread_cpus(process))
        if (cpus != look_.cpus_at_start) look_.own_cpus = cpus;
    }
    look_.threads = std::max(look_.threads, threads);
    look_.processes = std::max(look_.processes, processes);
    if (!memory.by_node.empty()) look_.samples.push_back(std::move(memory));
  }

  void add_nodes(pid_t process, const ProcessState& state, MemorySample& sample) {
    const NodeSet nodes = machine_.usable_memory_nodes();
    if (nodes.size() == 1) {  // no need to walk all of its pages
      sample.by_node[nodes.front().value].value += state.resident.value;
      return;
    }
    const auto memory = read_process_memory(process, nodes);
    if (!memory) {
      look_.no_nodes = full_text(memory.error());
      return;
    }
    for (const auto& row : memory->rows)
      for (std::size_t i = 0; i < row.by_node.size(); ++i)
        sample.by_node[memory->nodes[i].value].value += row.by_node[i].value;
  }

  void look_at_libraries(pid_t process) {
    look_.openmp = look_.openmp || has_mapped(process, {"libgomp.", "libomp.", "libiomp5."});
    look_.gpu = look_.gpu || has_mapped(process, {"libcuda.", "libamdhip64."});
  }

  const Machine& machine_;
  Look& look_;
  Clock::time_point start_ = Clock::now(), next_;
};

std::string percent(double part) { return fmt::format("{:.0f} %", 100 * part); }

std::string time_text(const Look& look, const Machine& machine) {
  std::string text = fmt::format("{:.3g} s, {:.1f} of {} CPUs busy", look.run.seconds,
                                 look.cpus_used(), machine.usable_cpus().size());
  if (look.threads > 1) text += fmt::format(", {} threads", look.threads);
  if (look.processes > 1) text += fmt::format(", {} processes", look.processes);
  return text;
}

std::string memory_text(const Look& look) {
  std::string text = to_rounded_text(look.peak_memory()) + " of memory at most";
  for (const auto& [node, share] : look.node_shares())
    if (share >= 0.005) text += fmt::format(", {} on node {}", percent(share), node);
  if (const auto huge = look.huge_share())
    text += fmt::format(", {} in huge pages", percent(*huge));
  return text;
}

std::string faults_text(const ProgramRun& run) {
  std::string text = fmt::format("{} page faults", run.minor_faults + run.major_faults);
  if (run.major_faults > 0)
    text += fmt::format(", {} of them from files or swap", run.major_faults);
  const double busy = run.user_seconds + run.system_seconds;
  if (busy > 0)
    text += fmt::format("; {} of its CPU time in the system", percent(run.system_seconds / busy));
  return text;
}

}  // namespace

std::vector<pid_t> processes_below(pid_t root) {
  std::vector<pid_t> all{root};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto children = children_of(all[i]).value_or(std::vector<pid_t>{});
    all.insert(all.end(), children.begin(), children.end());
  }
  return all;
}

void read_rollup(std::istream& file, ProcessState& state) {
  for (std::string line; std::getline(file, line);) {
    // What several processes share counts once among them.
    if (const auto value = number_after(line, "Pss:")) state.resident.value += *value * kib;
    for (const char* name : {"AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:"})
      if (const auto value = number_after(line, name)) state.huge.value += *value * kib;
    for (const char* name : {"Shared_Hugetlb:", "Private_Hugetlb:"}) {
      // Pss has none of these.
      const auto value = number_after(line, name);
      if (!value) continue;
      state.huge.value += *value * kib;
      state.resident.value += *value * kib;
    }
  }
}

std::optional<ProcessState> read_state(pid_t process) {
  const Tree& system = running_system();
  const auto status = system.text(fmt::format("/proc/{}/status", process)).value_or("");
  ProcessState state;
  state.threads = std::atoi(value_of(status, "Threads").value_or("0").c_str());
  if (state.threads == 0) return std::nullopt;
  std::istringstream rollup(
      system.text(fmt::format("/proc/{}/smaps_rollup", process)).value_or(""));
  read_rollup(rollup, state);
  return state;
}

std::vector<CpuSet> thread_cpus(pid_t process) {
  const std::string tasks = fmt::format("/proc/{}/task/", process);
  std::vector<CpuSet> all;
  for (const std::string& task : running_system().names(tasks)) {
    const auto status = running_system().text(tasks + task + "/status").value_or("");
    const auto list = value_of(status, "Cpus_allowed_list");
    if (!list) continue;
    if (auto cpus = parse_list<CpuId>(*list)) all.push_back(*std::move(cpus));
  }
  return all;
}

bool has_mapped(pid_t process, const std::vector<std::string>& names) {
  const auto maps =
      running_system().text(fmt::format("/proc/{}/maps", process), whole_file).value_or("");
  return std::ranges::any_of(
      names, [&](const std::string& name) { return maps.find(name) != std::string::npos; });
}

std::chrono::duration<double> pause_between_samples(std::chrono::duration<double> taken,
                                                    std::chrono::duration<double> age) {
  constexpr double usual_part = 0.005, largest_part = 0.02;
  return std::min(taken / usual_part, std::max(age, taken / largest_part));
}

Bytes MemorySample::total() const {
  Bytes sum;
  for (const auto& [node, bytes] : by_node) sum.value += bytes.value;
  return sum;
}

double Look::cpus_used() const {
  return run.seconds > 0 ? (run.user_seconds + run.system_seconds) / run.seconds : 0;
}

const MemorySample* Look::fullest() const {
  const auto less = [](const auto& a, const auto& b) { return a.total() < b.total(); };
  const auto most = std::max_element(samples.begin(), samples.end(), less);
  return most == samples.end() ? nullptr : &*most;
}

Bytes Look::peak_memory() const {
  const MemorySample* most = fullest();
  if (most == nullptr) return run.peak_memory;
  // The system's own maximum has the memory of this process, which became the program.
  constexpr std::uint64_t of_this_process = 64 * mib;
  return run.peak_memory.value > of_this_process ? std::max(run.peak_memory, most->total())
                                                 : most->total();
}

std::optional<double> Look::huge_share() const {
  const MemorySample* most = fullest();
  if (most == nullptr || most->total().value == 0) return std::nullopt;
  return std::min(1.0,
                  static_cast<double>(most->huge.value) / static_cast<double>(most->total().value));
}

std::map<int, double> Look::node_shares() const {
  std::map<int, double> shares;
  const MemorySample* most = fullest();
  if (most == nullptr || most->total().value == 0) return shares;
  for (const auto& [node, bytes] : most->by_node)
    if (bytes.value > 0)
      shares[node] = static_cast<double>(bytes.value) / static_cast<double>(most->total().value);
  return shares;
}

Expected<Look> look_at(ProgramRequest request, CpuSet cpus_at_start, const Machine& machine) {
  Look look;
  look.cpus_at_start = std::move(cpus_at_start);
  Observer observer(machine, look);
  request.running = [&](pid_t process) { observer.observe(process); };
  look.run = TRY(run_program(request));
  return look;
}

std::vector<std::string> sentences_of(const Look& look, const Machine& machine) {
  const ProgramRun& run = look.run;
  std::vector<std::string> all{time_text(look, machine), memory_text(look), faults_text(run)};
  if (!look.no_nodes.empty()) all.push_back("nodes of its pages not known: " + look.no_nodes);
  if (look.own_cpus)
    all.push_back(fmt::format(
        "it sets its own CPU affinity (CPUs {}): candidates that place its CPUs say little",
        to_list(*look.own_cpus)));
  if (run.left_processes)
    all.push_back("it left processes behind, which were ended; no figure includes their work");
  return all;
}

}  // namespace numatlas
