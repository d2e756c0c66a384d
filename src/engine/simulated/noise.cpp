#include "engine/simulated/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/whole.h"

namespace numatlas {
namespace {

/// Short beside the shortest correlation time of interest, 1 ms.
constexpr double cell_ns = 1e5;
/// Work must end at some time.
constexpr double least_speed = 0.01;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

using Settings = std::map<std::string_view, std::string_view>;

/// The settings of a component, all of which must be there.
Expected<Settings> settings_of(std::string_view name, std::string_view text,
                               const std::vector<std::string_view>& keys) {
  Settings settings;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    if (equals == std::string_view::npos ||
        std::find(keys.begin(), keys.end(), key) == keys.end() || settings.contains(key))
      return fail(ErrorKind::usage, fmt::format("{} accepts {}, each once, not '{}'", name,
                                                fmt::join(keys, ", "), part));
    settings[key] = part.substr(equals + 1);
  }
  for (const std::string_view key : keys) {
    if (!settings.contains(key))
      return fail(ErrorKind::usage, fmt::format("{} needs {}=", name, key));
  }
  return settings;
}

/// A setting: its key, and the field that it sets, a time or a part.
struct NoiseSetting {
  const char* key;
  std::variant<Nanoseconds*, double*> field;
};

Expected<void> set(const NoiseSetting& setting, std::string_view text) {
  if (auto* const* const part = std::get_if<double*>(&setting.field)) {
    const auto value = TRY(parse_part(text));
    **part = value;
    return {};
  }
  const auto value = TRY(parse_duration(text));
  *std::get<Nanoseconds*>(setting.field) = value;
  return {};
}

/// The settings of a component, which from now on is one of the noise's.
Expected<std::vector<NoiseSetting>> settings_named(NoiseSpec& spec, std::string_view name) {
  if (name == "ar1") {
    auto& ar1 = spec.ar1.emplace();
    return std::vector<NoiseSetting>{{"tau", &ar1.tau}, {"sd", &ar1.sd}};
  }
  if (name == "telegraph") {
    auto& telegraph = spec.telegraph.emplace();
    return std::vector<NoiseSetting>{{"low", &telegraph.low}, {"dwell", &telegraph.dwell}};
  }
  if (name == "drift") {
    auto& drift = spec.drift.emplace();
    return std::vector<NoiseSetting>{{"by", &drift.by}, {"over", &drift.over}};
  }
  if (name == "spikes") {
    auto& spikes = spec.spikes.emplace();
    return std::vector<NoiseSetting>{
        {"every", &spikes.every}, {"last", &spikes.last}, {"low", &spikes.low}};
  }
  if (name == "delays") {
    auto& delays = spec.delays.emplace();
    return std::vector<NoiseSetting>{{"share", &delays.share}, {"by", &delays.by}};
  }
  return fail(ErrorKind::usage, fmt::format("'{}' is not one of ar1, telegraph, drift, spikes, "
                                            "delays, lognormal, launch, rest, seed",
                                            name));
}

Expected<void> add_component(NoiseSpec& spec, std::string_view name, std::string_view text) {
  const auto settings = TRY(settings_named(spec, name));
  std::vector<std::string_view> keys;
  for (const NoiseSetting& setting : settings) keys.emplace_back(setting.key);
  const auto texts = TRY(settings_of(name, text, keys));
  for (const NoiseSetting& setting : settings) TRY(set(setting, texts.at(setting.key)));
  return {};
}

Expected<void> add_value(NoiseSpec& spec, std::string_view name, std::string_view text) {
  if (name == "lognormal") return set({"lognormal", &spec.samples}, text);
  if (name == "launch") return set({"launch", &spec.launch}, text);
  if (name == "rest") return set({"rest", &spec.rest}, text);
  if (name != "seed") return add_component(spec, name, "");
  const auto seed = parse_whole<std::uint64_t>(std::string(text), 0, ~std::uint64_t{0}, "seed");
  if (!seed) return fail(seed.error());
  spec.seed = *seed;
  return {};
}

}  // namespace

Expected<NoiseSpec> parse_noise(std::string_view text) {
  NoiseSpec spec;
  for (const std::string_view part : split(text, ';')) {
    const std::size_t at = part.find_first_of(":=");
    const std::string_view name = part.substr(0, at);
    const std::string_view rest = at == std::string_view::npos ? "" : part.substr(at + 1);
    const bool component = at != std::string_view::npos && part[at] == ':';
    TRY(component ? add_component(spec, name, rest) : add_value(spec, name, rest));
  }
  return spec;
}

SpeedOverTime::SpeedOverTime(const NoiseSpec& spec) : spec_(spec), random_(spec.seed) {
  launch_ = std::max(least_speed, 1 + spec.launch * normal_(random_));
  ar1_ = normal_(random_);
  slow_ = (random_() & 1) != 0;
}

double SpeedOverTime::cell(std::size_t index) {
  const auto exponential = [&](Nanoseconds mean) {
    return std::exponential_distribution<double>(1 / static_cast<double>(mean.count()))(random_);
  };
  if (cells_.empty()) {
    if (spec_.telegraph) changes_ = exponential(spec_.telegraph->dwell);
    if (spec_.spikes) next_spike_ = exponential(spec_.spikes->every);
  }
  while (cells_.size() <= index) {
    const double now = static_cast<double>(cells_.size()) * cell_ns;
    double speed = launch_;
    if (spec_.ar1) {
      speed *= 1 + spec_.ar1->sd * ar1_;
      const double kept = std::exp(-cell_ns / static_cast<double>(spec_.ar1->tau.count()));
      ar1_ = kept * ar1_ + std::sqrt(1 - kept * kept) * normal_(random_);
    }
    if (spec_.telegraph) {
      while (changes_ <= now) {
        slow_ = !slow_;
        changes_ += exponential(spec_.telegraph->dwell);
      }
      if (slow_) speed *= spec_.telegraph->low;
    }
    if (spec_.drift) {
      const double way = std::min(1.0, now / static_cast<double>(spec_.drift->over.count()));
      speed *= 1 + spec_.drift->by * (way - 0.5);
    }
    if (spec_.spikes) {
      while (next_spike_ <= now) {
        spike_ends_ = next_spike_ + static_cast<double>(spec_.spikes->last.count());
        next_spike_ = spike_ends_ + exponential(spec_.spikes->every);
      }
      if (now < spike_ends_) speed *= spec_.spikes->low;
    }
    cells_.push_back(static_cast<float>(std::max(least_speed, speed)));
  }
  return cells_[index];
}

double SpeedOverTime::end_of(double start_ns, double work_ns) {
  double now = start_ns, left = work_ns;
  for (auto index = static_cast<std::size_t>(now / cell_ns);; ++index) {
    const double speed = cell(index);
    const double cell_ends = static_cast<double>(index + 1) * cell_ns;
    const double done = (cell_ends - now) * speed;
    if (done >= left) return now + left / speed;
    left -= done;
    now = cell_ends;
  }
}

double SpeedOverTime::mean_between(double from_ns, double to_ns) {
  double sum = 0, now = from_ns;
  for (auto index = static_cast<std::size_t>(now / cell_ns); now < to_ns; ++index) {
    const double until = std::min(to_ns, static_cast<double>(index + 1) * cell_ns);
    sum += (until - now) * cell(index);
    now = until;
  }
  return sum / (to_ns - from_ns);
}

double SpeedOverTime::expected() const {
  double speed = launch_;
  if (spec_.telegraph) speed *= (1 + spec_.telegraph->low) / 2;
  if (spec_.spikes) {
    const auto last = static_cast<double>(spec_.spikes->last.count());
    const double share = last / (last + static_cast<double>(spec_.spikes->every.count()));
    speed *= 1 - share * (1 - spec_.spikes->low);
  }
  return speed;
}

}  // namespace numatlas
