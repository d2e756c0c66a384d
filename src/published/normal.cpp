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
#include "base/read_file.h"
#include "base/text.h"
#include "machine/identity.h"
#include "machine/pci_link.h"
#include "processors/processor.h"
#include "published/expected.h"
#include "record/unit.h"

namespace numatlas {
namespace {

/// Of the memory's peak, where nothing was published: a few chiplets, or little tuning, cost much.
constexpr double peak_share = 0.6;

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto small = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return small(x) == small(y); });
}

/// Rows that have a figure, and the tables that they stand in.
struct Others {
  std::vector<std::pair<double, double>> values;
  std::vector<std::string> sources;

  std::string source() const { return fmt::format("{}", fmt::join(sources, "; ")); }
};

using IsLike = std::function<bool(const PublishedRow&)>;

Others others_with(const Published& published, std::string_view key, const IsLike& is_like) {
  Others found;
  for (const PublishedTable& table : published.tables) {
    const std::size_t before = found.values.size();
    for (const PublishedRow& row : table.rows) {
      const PublishedFigure* const figure = row.figure(key);
      if (figure != nullptr && is_like(row)) found.values.emplace_back(figure->low, figure->high);
    }
    if (found.values.size() > before)
      found.sources.push_back(fmt::format("{}, {}, {}", table.name, table.date, table.licence));
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

void set_limit(double limit, Normal& one) {
  one.limit = limit;
  one.verdict = is_lower(one, limit) ? Normal::Verdict::low : Normal::Verdict::ok;
}

/// "Xeon", as hypervisors call any of them, is no model.
bool is_model(const std::string& processor) {
  return processor.find_first_of("0123456789") != std::string::npos;
}

/// Who the machine's like are: machines of its provider with as many of these CPUs.
class Like {
 public:
  Like(const Machine& machine, const Published& published)
      : processor_(processor_name(machine.cpu_model)),
        cpus_(static_cast<int>(machine.cpus.size())),
        provider_(machine.identity.provider) {
    if (published.machine_type.empty() || !provider_.empty()) return;
    const PublishedRow* its = nullptr;
    for (const PublishedTable& table : published.tables)
      for (const PublishedRow& row : table.rows)
        if (row.machine == published.machine_type) its = &row;
    problem_ = "machine type " + printable(published.machine_type);
    if (its == nullptr) return;
    // Of any other size, or with a processor of another maker, it is not that type.
    const bool may_be = is_model(processor_) || its->processor.starts_with(processor_);
    if (its->cpus != cpus_ || !may_be) {
      problem_ += fmt::format(" with {}, {}", processor_, count_text(cpus_, "CPU"));
      return;
    }
    problem_.clear();
    provider_ = its->provider;
    if (!is_model(processor_)) processor_ = its->processor;
  }

  bool has_provider() const { return !provider_.empty(); }
  std::string text() const {
    if (!problem_.empty()) return problem_;
    return fmt::format("{}{}{}, {}", provider_, provider_.empty() ? "" : ", ", processor_,
                       count_text(cpus_, "CPU"));
  }
  bool operator()(const PublishedRow& row) const {
    return row.cpus == cpus_ && row.provider == provider_ &&
           same_but_for_case(row.processor, processor_);
  }

 private:
  std::string processor_;
  int cpus_;
  std::string provider_, problem_;
};

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
  one.verdict = Normal::Verdict::none;
  one.limit.reset();
  one.reason = "it reads more than its memory carries: other memory answers as well";
}

/// Nothing where nobody could know such a machine: none of a cloud, with processors that no table
/// has.
std::optional<Normal> reads_of(const Machine& machine, const Estimate& reads,
                               const Published& published) {
  Normal one{"read", "B/s", reads};
  const Like like(machine, published);
  one.group = like.text();
  one.reason = "nothing is known of " + one.group;
  if (like.has_provider()) {
    hold(others_with(published, "read", like), published, one);
    one.against = "machines like it";
  }
  const auto& quota = machine.allowance.cpu_quota;
  if (quota && *quota < static_cast<double>(machine.cpus.size())) {
    one.limit.reset();
    one.verdict = Normal::Verdict::none;
    one.reason = fmt::format("a CPU quota of {:g} of {} CPUs", *quota, machine.cpus.size());
    return one;
  }
  if (one.verdict != Normal::Verdict::none) return one;
  if (is_bare_metal(machine)) {
    Normal whole{"read", "B/s", reads};
    hold_by_processor(machine, published, whole);
    if (!whole.against.empty() && (whole.count > 0 || !whole.more.empty())) return whole;
    return one.count > 0 ? std::optional(one) : std::nullopt;
  }
  if (one.count > 0 || !published.machine_type.empty()) return one;
  if (like.has_provider()) return one;
  if (!is_virtual(machine)) return std::nullopt;
  one.reason = "the firmware names no cloud (--machine-type)";
  return one;
}

/// By processor alone, whoever has it: programs and sizes differ, so that there is no verdict.
std::optional<Normal> range_of(const char* what, std::string_view key, const Machine& machine,
                               const Fact& fact, const Published& published) {
  Normal one{what, fact.unit, fact.estimate};
  const std::string model = processor_name(machine.cpu_model);
  const Others others = others_with(published, key, [&](const PublishedRow& row) {
    return same_but_for_case(row.processor, model);
  });
  if (!is_model(model) || others.values.empty()) return std::nullopt;
  hold(others, published, one);
  one.group = model;
  one.limit.reset();
  one.verdict = Normal::Verdict::none;
  one.reason = "programs differ";
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

/// Links of GPUs of this name that enough of the others have, the fastest last.
std::vector<Link> links_of(const std::string& name, const GpuFigure& figure,
                           const Published& published) {
  std::map<Link, std::size_t> counts;
  others_with(published, figure.key, [&](const PublishedRow& row) {
    if (row.link_generation && row.link_width && same_but_for_case(row.gpu, name))
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

/// The same GPUs with a link as this one runs at, or may run at (idle links step down); else those
/// with the fastest, so that a link which is narrow is found.
Others gpus_like(const Gpu& gpu, const GpuFigure& figure, const Published& published, Normal& one) {
  const PciLink link = gpu.path.empty() ? PciLink{} : gpu.path.front().link;
  const auto now = pcie_generation(link.speed), most = pcie_generation(link.max_speed);
  const std::vector<Link> links = links_of(gpu.name, figure, published);
  one.group = gpu.name;
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
    return same_but_for_case(row.gpu, gpu.name) &&
           (!its || (row.link_generation == its->first && row.link_width == its->second));
  });
}

void judge_gpus(const RunHead& run, const Machine& machine, const Published& published,
                std::vector<Normal>& all) {
  for (const GpuFigure& figure : gpu_figures) {
    std::vector<std::pair<std::string, const Fact*>> best;  // of each GPU: memory of several nodes
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
      const double now = fact.estimate.value, then = found->second->estimate.value;
      if (lower ? now < then : now > then) found->second = &fact;
    }
    for (const auto& [index, fact] : best) {
      const Gpu* const gpu = gpu_of(machine, index);
      if (gpu == nullptr || gpu->name.empty()) continue;
      Normal one{fmt::format("GPU {}: {}", index, figure.what), fact->unit, fact->estimate};
      if (is_slice(*gpu)) {
        one.group = gpu->name;
        one.reason = "it is a slice of a GPU";
      } else {
        const Others others = gpus_like(*gpu, figure, published, one);
        one.reason = "nothing is known of " + one.group;
        hold(others, published, one);
        one.against = "GPUs like it";
        if (one.verdict == Normal::Verdict::ok) one.first.clear();
      }
      all.push_back(std::move(one));
    }
  }
}

}  // namespace

Expected<Published> published_with(const std::string& own_file, std::string machine_type) {
  Published published;
  published.machine_type = std::move(machine_type);
  if (own_file.empty()) return published;
  const auto text = TRY(read_file(own_file, "--published: " + printable(own_file), ""));
  published.tables.push_back(TRY(parse_published(text, printable(own_file))));
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

std::vector<Normal> judge_figures(const RunHead& run, const std::optional<Estimate>& reads,
                                  const Published& published) {
  std::vector<Normal> all;
  if (run.hosts.size() != 1 || run.machines.size() != 1) return all;
  const Machine& machine = run.machines.front();
  if (auto one = reads ? reads_of(machine, *reads, published) : std::nullopt)
    all.push_back(std::move(*one));
  judge_gpus(run, machine, published, all);
  for (const Fact& fact : run.facts) {
    const bool huge = fact.key == "memory_latency" && where_of(fact, "pages") != "base";
    for (const auto& [is, key, what] :
         {std::tuple(huge, "latency", "idle latency"),
          {fact.key == "core_to_core_nearest", "nearest", "core to core, nearest"},
          {fact.key == "core_to_core_farthest", "farthest", "core to core, farthest"}})
      if (auto one = is ? range_of(what, key, machine, fact, published) : std::nullopt)
        all.push_back(std::move(*one));
  }
  return all;
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
