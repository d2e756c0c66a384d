#include "published/normal.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/judge.h"
#include "base/add_once.h"
#include "base/read_file.h"
#include "base/text.h"
#include "base/units.h"
#include "machine/identity.h"
#include "machine/pci_link.h"
#include "processors/processor.h"
#include "published/expected.h"
#include "record/unit.h"

namespace numatlas {
namespace {

/// Of the memory's peak, where nothing was published: a few chiplets, or little tuning, cost much.
constexpr double peak_share = 0.6;
/// Copies that are smaller also take what it costs to start one.
constexpr Bytes least_copy{16 * mib};

constexpr const char* reads_name = "read";

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto small = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return small(x) == small(y); });
}

/// Rows that have a figure, where these are from, and what is said of their memory.
struct Others {
  std::vector<std::pair<double, double>> values;
  std::vector<std::string> sources;
  std::vector<std::string> modules;  ///< "8 x 4800 MT/s a socket"

  std::string source() const { return fmt::format("{}", fmt::join(sources, "; ")); }
};

/// "Spare Cores (sc-membench), 2026-08, CC BY-SA 4.0"; of a row with a source of its own "Mess 2.0,
/// CPUs of one socket (github.com/bsc-mem/Mess-Results, 2026-02, facts)".
std::string source_of(const PublishedTable& table, const PublishedRow& row) {
  if (row.source.empty())
    return fmt::format("{}{}, {}, {}", table.name,
                       row.program.empty() ? "" : " (" + row.program + ")", table.date,
                       table.licence);
  std::string place = row.source.substr(std::string_view("https://").size());
  for (std::size_t end = 0, parts = 0; end != std::string::npos; end = place.find('/', end + 1))
    if (parts++ == 3) place.resize(end);
  return fmt::format("{} ({}, {}, {})", row.conditions, place,
                     row.date.empty() ? table.date : row.date, table.licence);
}

using IsLike = std::function<bool(const PublishedRow&)>;

Others others_with(const Published& published, std::string_view key, const IsLike& is_like) {
  Others found;
  for (const PublishedTable& table : published.tables) {
    for (const PublishedRow& row : table.rows) {
      const PublishedFigure* const figure = row.figure(key);
      if (figure == nullptr || !is_like(row)) continue;
      found.values.emplace_back(figure->low, figure->high);
      add_once(found.sources, source_of(table, row));
      add_once(found.modules, row.channels && row.mts
                                  ? fmt::format("{} x {} MT/s a socket", *row.channels, *row.mts)
                                  : "");
    }
  }
  return found;
}

void hold(const Others& others, const Published& published, Normal& one) {
  hold_against(others.values, published.least, one);
  one.source = others.source();
}

bool is_lower(const Normal& one, double limit) {
  // Its whole interval has to miss the limit.
  return one.unit.better() == Better::lower ? one.value.low.value_or(one.value.value) > limit
                                            : one.value.high.value_or(one.value.value) < limit;
}

void no_verdict(const std::string& reason, Normal& one) {
  one.verdict = Normal::Verdict::none;
  one.reason = reason;
}

/// The others are set.
void set_limit(double limit, Normal& one) {
  one.limit = limit;
  one.verdict = is_lower(one, limit) ? Normal::Verdict::low : Normal::Verdict::ok;
  if (one.count == 0) return;
  const bool lower = one.unit.better() == Better::lower;
  const double times = lower ? one.low / one.value.high.value_or(one.value.value)
                             : one.value.low.value_or(one.value.value) / one.high;
  if (times <= most_apart) return;
  no_verdict(
      fmt::format("{} {} {}: {}",
                  lower ? fmt::format("1/{:.1f} of", times) : fmt::format("{:.1f} times", times),
                  lower ? "the lowest of" : "the highest of",
                  one.count == 1 ? "the one like it" : fmt::format("{} like it", one.count),
                  one.what == reads_name ? "another machine, or its data came from a cache"
                                         : "another GPU, or another link"),
      one);
}

/// "Xeon", as hypervisors call any of them, is no model.
bool is_model(const std::string& processor) {
  return processor.find_first_of("0123456789") != std::string::npos;
}

/// Who the machine's like are: machines of its provider with as many of these CPUs, as many of them
/// on a core, and as much cache, which tells on how many chiplets they are.
class Like {
 public:
  /// `type`: the cloud's name of the machine; "": as the firmware says.
  Like(const Machine& machine, const std::string& type, const Published& published)
      : processor_(processor_name(machine.cpu_model)),
        cpus_(static_cast<int>(machine.cpus.size())),
        threads_(threads_per_core(machine)),
        cache_(caches_in_mib(machine)),
        provider_(machine.identity.provider),
        has_type_(!type.empty()) {
    if (type.empty() || !provider_.empty()) return;
    // Rows of GPUs tell its provider alone: they count where no other has its name.
    const PublishedRow* its = nullptr;
    std::vector<std::string> names;
    for (const PublishedTable& table : published.tables)
      for (const PublishedRow& row : table.rows) {
        if (row.machine == type && (its == nullptr || its->processor.empty())) its = &row;
        if (!row.machine.empty()) names.push_back(row.machine);
      }
    problem_ = "machine type " + printable(type);
    if (its == nullptr) {
      const std::string close = nearest_name(type, names);
      if (!close.empty()) problem_ += fmt::format(" (did you mean {}?)", close);
      return;
    }
    // Of any other size, or with a processor of another maker, it is not that type.
    const bool may_be = is_model(processor_) || its->processor.starts_with(processor_);
    if ((its->cpus && its->cpus != cpus_) || (!its->processor.empty() && !may_be)) {
      problem_ += fmt::format(" with {}, {}", processor_, count_text(cpus_, "CPU"));
      return;
    }
    problem_.clear();
    provider_ = its->provider;
    if (!is_model(processor_) && !its->processor.empty()) processor_ = its->processor;
  }

  bool has_type() const { return has_type_; }
  bool has_provider() const { return !provider_.empty(); }
  const std::string& provider() const { return provider_; }
  const std::string& processor() const { return processor_; }
  /// Of all that are of this kind, or of those alone that are alike.
  std::string text(bool alike = false) const {
    if (!problem_.empty()) return problem_;
    std::string text = fmt::format("{}{}{}, {}", provider_, provider_.empty() ? "" : ", ",
                                   processor_, count_text(cpus_, "CPU"));
    if (alike && threads_) text += fmt::format(", {} a core", *threads_);
    if (alike && cache_) text += fmt::format(", {} MiB of cache", *cache_);
    return text;
  }
  bool is_of_kind(const PublishedRow& row) const {
    return row.cpus == cpus_ && row.provider == provider_ && is_model(processor_) &&
           same_but_for_case(row.processor, processor_);
  }
  bool is_alike(const PublishedRow& row) const {
    const auto may_be = [](const std::optional<int>& a, const std::optional<int>& b) {
      return !a || !b || a == b;
    };
    return is_of_kind(row) && may_be(row.threads_per_core, threads_) &&
           may_be(row.cache_mib, cache_);
  }

 private:
  std::string processor_;
  int cpus_;
  std::optional<int> threads_, cache_;
  std::string provider_, problem_;
  bool has_type_;
};

/// Programs differ, so that only figures of one stand beside each other: numatlas' own, or of a
/// table that names none; else of the one that measured the most of such machines, if they give a
/// verdict. The group says whose they are.
void hold_by_program(const Published& published, std::string_view key, const IsLike& is_like,
                     Normal& one) {
  std::map<std::string, std::size_t> counts;
  others_with(published, key, [&](const PublishedRow& row) {
    if (is_like(row)) ++counts[row.program];
    return false;
  });
  std::vector<std::pair<std::string, std::size_t>> programs(counts.begin(), counts.end());
  std::ranges::stable_sort(programs, std::greater<>(), [](const auto& program) {
    const bool is_own = program.first.empty() || program.first == "numatlas";
    return std::pair(is_own, program.second);
  });
  Normal most = one;
  for (const auto& program : programs) {
    Normal held = one;
    hold(others_with(
             published, key,
             [&](const PublishedRow& row) { return row.program == program.first && is_like(row); }),
         published, held);
    if (!program.first.empty()) held.group += ", by " + program.first;
    if (held.limit || held.count > most.count) most = held;
    if (held.limit) break;
  }
  one = most;
}

/// Reads of a whole machine by its processors, those of others by the socket where none has as
/// many: each reads its own memory. Where nothing was published, by the memory's peak.
void hold_by_processor(const Machine& machine, const Published& published, Normal& one) {
  const Sockets sockets = sockets_of(machine);
  const std::string model = processor_name(machine.cpu_model);
  one.group = model;
  std::set<int> counts;
  const auto is_like = [&](const PublishedRow& row) {
    return row.sockets && row.provider.empty() && !row.is_virtual &&
           same_but_for_case(row.processor, model) && (!row.cores || row.cores == sockets.cores);
  };
  others_with(published, "read", [&](const PublishedRow& row) {
    if (is_like(row)) counts.insert(*row.sockets);
    return false;
  });
  const auto peak = peak_rate_of(machine);
  if (peak) {
    one.more = fmt::format("{:.0f} % of {}", one.value.value / peak->rate * 100, peak->text);
    if (!peak->empty.empty())
      one.more += fmt::format(", without modules: {}", fmt::join(peak->empty, ", "));
  }
  const bool beyond = peak && one.value.low.value_or(one.value.value) > peak->rate;
  if (!counts.empty()) {
    const int of = counts.contains(sockets.count) ? sockets.count : *counts.begin();
    Others others = others_with(published, "read", [&](const PublishedRow& row) {
      return is_like(row) && *row.sockets == of;
    });
    const double factor = static_cast<double>(sockets.count) / of;
    for (auto& [low, high] : others.values) {
      low *= factor;
      high *= factor;
    }
    if (of != sockets.count)
      one.group += fmt::format(", {}, times {:g}", count_text(of, "socket"), factor);
    if (others.modules.size() == 1 && !others.modules.front().empty())
      one.group += ", " + others.modules.front();
    hold(others, published, one);
    one.against = "published figures";
    one.reason.clear();
    // Nobody shares such a machine: one figure of another says what it can reach.
    if (!beyond) set_limit(one.low * published_share, one);
  } else if (peak) {
    one.against = "the memory's peak";
    if (!beyond) set_limit(peak->rate * peak_share, one);
  }
  if (!beyond) return;
  one.limit.reset();
  no_verdict("it reads more than its memory carries: other memory answers as well", one);
}

/// Nothing of a whole machine, of no cloud, with processors that no table has: nobody could know
/// it.
std::optional<Normal> reads_beside(const Machine& machine, const Like& like, const Estimate& rate,
                                   const Published& published) {
  Normal one{reads_name, "B/s", rate};
  one.group = like.text();
  one.reason = "nothing is known of " + one.group;
  if (like.has_provider()) {
    if (!is_model(like.processor()))
      one.reason = fmt::format("its processor's name, \"{}\", is no model", like.processor());
    one.group = like.text(true);
    hold_by_program(
        published, "read", [&](const auto& row) { return like.is_alike(row); }, one);
    if (one.count == 0) {
      one.group = like.text();
      hold_by_program(
          published, "read", [&](const auto& row) { return like.is_of_kind(row); }, one);
      one.limit.reset();
      if (one.count > 0) no_verdict("theirs have other cores or caches", one);
    }
    one.against = "machines like it";
  }
  if (one.verdict != Normal::Verdict::none) return one;
  if (is_bare_metal(machine)) {
    Normal whole{reads_name, "B/s", rate};
    hold_by_processor(machine, published, whole);
    if (!whole.against.empty() && (whole.count > 0 || !whole.more.empty())) return whole;
    return one.count > 0 ? std::optional(one) : std::nullopt;
  }
  if (one.count > 0 || like.has_type() || like.has_provider()) return one;
  one.reason = is_virtual(machine) ? "the firmware names no cloud (--machine-type)"
                                   : "the system does not say whether it is a virtual machine";
  return one;
}

/// The same; reads that are not as others measured have no verdict.
std::optional<Normal> judge_reads(const Machine& machine, const Like& like, const AllReads& reads,
                                  const Published& published) {
  auto one = reads_beside(machine, like, *reads.rate, published);
  const auto& quota = machine.allowance.cpu_quota;
  const bool has_quota = quota && *quota < static_cast<double>(machine.cpus.size());
  const std::string reason =
      has_quota ? fmt::format("a CPU quota of {:g} of {} CPUs", *quota, machine.cpus.size())
                : reads.reason;
  if (!one || reason.empty() || (one->count == 0 && one->more.empty())) return one;
  one->limit.reset();
  no_verdict(reason, *one);
  return one;
}

/// By processor alone, whoever has it: programs and sizes differ, so that there is no verdict.
std::optional<Normal> range_of(const char* what, std::string_view key, const std::string& model,
                               const Fact& fact, const Published& published) {
  Normal one{what, fact.unit, fact.estimate};
  const Others others = others_with(published, key, [&](const PublishedRow& row) {
    return same_but_for_case(row.processor, model);
  });
  if (!is_model(model) || others.values.empty()) return std::nullopt;
  hold(others, published, one);
  one.group = model;
  one.limit.reset();
  no_verdict("programs differ", one);
  return one;
}

// GPUs.

const Gpu* gpu_of(const Machine& machine, const std::string& index) {
  for (const Gpu& gpu : machine.gpus)
    if (gpu.index && std::to_string(*gpu.index) == index) return &gpu;
  return nullptr;
}

/// "NVIDIA A10-4Q", "GRID T4-16Q": NVIDIA's names of parts of a GPU.
bool is_slice(const Gpu& gpu) {
  const std::size_t dash = gpu.name.rfind('-');
  const std::string end = dash == std::string::npos ? "" : gpu.name.substr(dash + 1);
  const bool is_profile = end.size() > 1 &&
                          std::string_view("ABCQ").find(end.back()) != std::string_view::npos &&
                          whole_number<int>(std::string_view(end).substr(0, end.size() - 1));
  return gpu.mig || gpu.name.starts_with("GRID ") || is_profile;
}

struct GpuFigure {
  const char *fact, *direction, *key, *what;
  bool by_link;
};
constexpr std::array<GpuFigure, 5> gpu_figures{
    {{"gpu_copy_rate", "h2d", "h2d", "copies to it", true},
     {"gpu_copy_rate", "d2h", "d2h", "copies from it", true},
     {"gpu_copy_rate", "both", "both", "copies both ways", true},
     {"gpu_latency", "", "gpu_load", "a load from host memory", true},
     {"gpu_copy", "", "gpu_copy", "copy in its own memory", false}}};

using Link = std::pair<int, int>;  ///< generation and lanes

/// Links of such GPUs that enough of the others have, the fastest last.
std::vector<Link> links_of(const GpuFigure& figure, const IsLike& is_like,
                           const Published& published) {
  std::map<Link, std::size_t> counts;
  others_with(published, figure.key, [&](const PublishedRow& row) {
    if (row.link_generation && row.link_width && is_like(row))
      ++counts[{*row.link_generation, *row.link_width}];
    return false;
  });
  std::erase_if(counts, [&](const auto& one) { return one.second < published.least; });
  std::vector<Link> links;
  for (const auto& [link, count] : counts) links.push_back(link);
  // A generation doubles what a lane carries.
  std::ranges::sort(links, {}, [](const Link& link) { return link.second << link.first; });
  return links;
}

/// The same GPUs, those of this provider alone where there are enough, with a link as this one runs
/// at, or may run at (idle links step down); else those with the fastest, so that a link which is
/// narrow is found.
Others gpus_like(const Gpu& gpu, const std::string& provider, const GpuFigure& figure,
                 const Published& published, Normal& one) {
  const PciLink link = gpu.path.empty() ? PciLink{} : gpu.path.front().link;
  const auto now = pcie_generation(link.speed), most = pcie_generation(link.max_speed);
  one.group = gpu.name;
  IsLike is_such = [&](const PublishedRow& row) { return same_but_for_case(row.gpu, gpu.name); };
  std::vector<Link> links;
  if (figure.by_link && !provider.empty()) {
    // Providers wire the same GPU with links of their own.
    const IsLike is_its = [&](const PublishedRow& row) {
      return row.provider == provider && same_but_for_case(row.gpu, gpu.name);
    };
    links = links_of(figure, is_its, published);
    if (!links.empty()) {
      is_such = is_its;
      one.group = provider + ", " + gpu.name;
    }
  }
  if (links.empty()) links = links_of(figure, is_such, published);
  std::optional<Link> its;
  if (figure.by_link && link.width && (now || most) && !links.empty()) {
    const auto known = [&](const std::optional<int>& generation, int width) {
      return generation && std::ranges::find(links, Link{*generation, width}) != links.end();
    };
    // A link that carried more than its speed allows had only stepped down while idle.
    const auto rate = link.speed ? link_rate(*link.speed, *link.width) : std::nullopt;
    const double ways = std::string_view(figure.key) == "both" ? 2 : 1;
    const bool stepped_down = one.unit == "B/s" && rate && one.value.value > *rate * ways;
    // What the GPU could have: a link that is slower or narrower than that is found so.
    const int wide = std::max(*link.width, link.max_width.value_or(0));
    its = known(most, wide)  ? Link{*most, wide}
          : known(now, wide) ? Link{*now, wide}
                             : links.back();
    one.group += fmt::format(" at Gen{} x{}", its->first, its->second);
    const bool is_old = now && most && *now < *most && one.unit == "B/s" && !stepped_down;
    if (is_old || its->second != *link.width || (link.max_width && *link.width < *link.max_width))
      one.first = "its link runs at " + link_text(link);
  }
  return others_with(published, figure.key, [&](const PublishedRow& row) {
    return is_such(row) &&
           (!its || (row.link_generation == its->first && row.link_width == its->second));
  });
}

/// Whether a fact is of memory that is not at the GPU's own node. False where either is unknown.
bool is_elsewhere(const Fact& fact, const Machine& machine) {
  const std::string memory = where_of(fact, "memory");
  const Gpu* const gpu = gpu_of(machine, where_of(fact, "gpu"));
  return gpu != nullptr && gpu->node && memory.starts_with("bind:") &&
         memory != fmt::format("bind:{}", gpu->node->value);
}

/// Why copies of a run are not as those of others; "" where they are.
std::string why_other_copies(const RunHead& run) {
  const std::string asked = option_of(run.arguments, "--size");
  const auto sizes = asked.empty() ? Expected<std::vector<Bytes>>() : parse_sizes(asked);
  if (!sizes || sizes->empty() || std::ranges::max(*sizes) >= least_copy) return "";
  return fmt::format("copies of {} take long to start: give it at least {}",
                     to_text(std::ranges::max(*sizes)), to_text(least_copy));
}

void judge_gpus(const RunHead& run, const Machine& machine, const std::string& provider,
                const Published& published, std::vector<Normal>& all) {
  for (const GpuFigure& figure : gpu_figures) {
    // Of each GPU: memory of several nodes, its own node's if it was measured.
    std::vector<std::pair<std::string, const Fact*>> best;
    for (const Fact& fact : run.facts) {
      if (fact.key != figure.fact || where_of(fact, "direction") != figure.direction) continue;
      // Of pinned memory as others have it, and of memory of its own.
      const std::string pinning = where_of(fact, "pinning");
      const bool as_others = pinning.empty() || pinning == "pinned";
      if (figure.by_link ? !as_others : !where_of(fact, "size").empty()) continue;
      const std::string index = where_of(fact, "gpu");
      auto found = std::ranges::find(best, index, &std::pair<std::string, const Fact*>::first);
      if (found == best.end()) found = best.insert(best.end(), {index, &fact});
      const bool lower = fact.unit.better() == Better::lower;
      const auto rank = [&](const Fact& one) {
        return std::pair(!is_elsewhere(one, machine),
                         lower ? -one.estimate.value : one.estimate.value);
      };
      if (rank(fact) > rank(*found->second)) found->second = &fact;
    }
    for (const auto& [index, fact] : best) {
      const Gpu* const gpu = gpu_of(machine, index);
      if (gpu == nullptr || gpu->name.empty()) continue;
      Normal one{fmt::format("GPU {}: {}", index, figure.what), fact->unit, fact->estimate};
      if (is_slice(*gpu)) {
        one.group = gpu->name;
        one.reason = "it is a slice of a GPU";
      } else {
        const Others others = gpus_like(*gpu, provider, figure, published, one);
        one.reason = "nothing is known of " + one.group;
        hold(others, published, one);
        one.against = "GPUs like it";
        const std::string other = figure.by_link && one.unit == "B/s" ? why_other_copies(run) : "";
        if (!other.empty())
          no_verdict(other, one);
        else if (figure.by_link && is_elsewhere(*fact, machine))
          no_verdict(fmt::format("memory of another node than the GPU's, {}", gpu->node->value),
                     one);
        if (one.verdict != Normal::Verdict::low) one.first.clear();
      }
      all.push_back(std::move(one));
    }
  }
}

}  // namespace

Expected<Published> published_with(const std::string& own_file) {
  Published published;
  if (own_file.empty()) return published;
  const auto text = TRY(read_file(own_file, "--published: " + printable(own_file), ""));
  PublishedTable own = TRY(parse_published(text, printable(own_file)));
  // Its rows would count twice.
  if (std::ranges::find(published.tables, own.name, &PublishedTable::name) !=
      published.tables.end())
    return fail_usage(
        "--published",
        fmt::format("numatlas has the table {} of {} itself", own.name, printable(own_file)),
        "leave it out, or give rows of your own a name of their own");
  published.tables.push_back(std::move(own));
  return published;
}

void hold_against(const std::vector<std::pair<double, double>>& others, std::size_t least,
                  Normal& one) {
  one.count = others.size();
  if (others.empty()) return;
  std::vector<double> middles;
  one.low = others.front().first;
  one.high = others.front().second;
  for (const auto& [low, high] : others) {
    one.low = std::min(one.low, low);
    one.high = std::max(one.high, high);
    middles.push_back((low + high) / 2);
  }
  one.median = median_of(std::move(middles));
  if (others.size() < least) {
    one.reason = fmt::format("{} {} too few", others.size(), others.size() == 1 ? "is" : "are");
  } else if (one.high > one.low * most_apart) {
    one.reason = "they lie too far apart";
  } else {
    one.reason.clear();
    const bool lower = one.unit.better() == Better::lower;
    set_limit(lower ? one.high / published_share : one.low * published_share, one);
  }
}

std::vector<Normal> judge_figures(const RunHead& run, const AllReads& reads,
                                  const std::string& machine_type, const Published& published) {
  std::vector<Normal> all;
  if (run.machines.empty()) return all;
  const Machine& machine = run.machines.front();
  const Like like(machine, machine_type, published);
  if (auto one = reads.rate ? judge_reads(machine, like, reads, published) : std::nullopt)
    all.push_back(std::move(*one));
  if (run.hosts.size() != 1 || run.machines.size() != 1) return all;
  judge_gpus(run, machine, like.provider(), published, all);
  for (const Fact& fact : run.facts) {
    const bool huge = fact.key == "memory_latency" && where_of(fact, "pages") != "base";
    for (const auto& [is, key, what] :
         {std::tuple(huge, "latency", "idle latency"),
          {fact.key == "core_to_core_nearest", "nearest", "core to core, nearest"},
          {fact.key == "core_to_core_farthest", "farthest", "core to core, farthest"}})
      if (auto one = is ? range_of(what, key, like.processor(), fact, published) : std::nullopt)
        all.push_back(std::move(*one));
  }
  const bool simulated = is_null_engine(run.engine);
  if (simulated || run.trust == "unreliable")
    for (Normal& one : all)
      // Of what nothing is known a quiet run would say no more.
      if (simulated || one.count > 0 || !one.more.empty())
        no_verdict(simulated ? "simulated" : "the run is UNRELIABLE", one);
  return all;
}

CloudMachine cloud_of(const Machine& machine, const std::string& machine_type,
                      const Published& published) {
  const Like like(machine, machine_type, published);
  return {like.provider(), like.processor()};
}

std::string normal_line(const std::vector<Normal>& all) {
  std::vector<const Normal*> worst;  // verdicts in this order, of LOW the gravest first
  for (const auto verdict : {Normal::Verdict::low, Normal::Verdict::ok, Normal::Verdict::none})
    if (worst.empty())
      for (const Normal& one : all)
        if (one.verdict == verdict) worst.push_back(&one);
  if (worst.empty()) return "";
  const Normal& first = **std::ranges::min_element(worst, {}, [](const Normal* one) {
    if (one->verdict != Normal::Verdict::low) return 1.0;
    const double part = one->value.value / *one->limit;
    return one->unit.better() == Better::lower ? 1 / part : part;
  });
  const std::string more =
      worst.size() == 1 ? "" : fmt::format("; {} more (numatlas check)", worst.size() - 1);
  if (first.verdict == Normal::Verdict::none && first.count == 0)
    return "not judged: " + first.reason + more;
  const char* const head = first.verdict == Normal::Verdict::low  ? "LOW: "
                           : first.verdict == Normal::Verdict::ok ? "yes: "
                                                                  : "";
  return head + to_text(first) + more;
}

}  // namespace numatlas
