#include "advise/race.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace numatlas {
namespace {

/// The standard library's search takes a part of the stack for each character.
constexpr std::size_t longest_line = 4096;

}  // namespace

Expected<Metric> Metric::parse(const std::string& text, bool higher) {
  Metric metric;
  metric.text_ = text;
  metric.higher_ = higher;
  metric.is_time_ = text == "time";
  if (metric.is_time_) {
    if (higher) return fail_usage("--higher", "less time is always better", "leave it out");
    return metric;
  }
  try {
    metric.pattern_ = std::regex(text);
  } catch (const std::regex_error&) {
    return fail_usage("--metric", fmt::format("'{}' is not a regular expression", text),
                      "time, or for example 'Triad: *([0-9.]+)'");
  }
  if (metric.pattern_.mark_count() != 1)
    return fail_usage("--metric",
                      fmt::format("'{}' has {} groups", text, metric.pattern_.mark_count()),
                      "put parentheses around the number only: 'Triad: *([0-9.]+)'");
  return metric;
}

Expected<double> Metric::find_in(const std::string& output) const {
  std::optional<std::string> number;
  std::istringstream lines(output);
  bool too_long = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > longest_line) {
      too_long = true;
      continue;
    }
    for (std::sregex_iterator match(line.begin(), line.end(), pattern_), end; match != end;
         ++match) {
      if (number)
        return fail(ErrorKind::usage,
                    fmt::format("printed the metric more than once ('{}' and '{}')", *number,
                                (*match)[1].str()));
      number = (*match)[1].str();
    }
  }
  if (!number)
    return fail(ErrorKind::usage,
                too_long ? fmt::format("printed no metric (lines of more than {} characters are "
                                       "not searched)",
                                       longest_line)
                         : "printed no metric");
  char* end = nullptr;
  const double value = std::strtod(number->c_str(), &end);
  if (number->empty() || *end != '\0' || !std::isfinite(value))
    return fail(ErrorKind::usage, fmt::format("printed '{}', which is not a number", *number));
  if (!(value > 0))
    return fail(ErrorKind::usage,
                fmt::format("printed {}: only metrics above 0 can be compared", *number));
  return value;
}

std::optional<Uncertain> log_ratio(std::span<const std::optional<double>> one,
                                   std::span<const std::optional<double>> other) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    if (one[i] && other[i]) logs.push_back(std::log(*one[i] / *other[i]));
  if (logs.size() < 2) return std::nullopt;
  return mean_of(logs);
}

std::size_t rounds_for(double precision, double deviation, double risk, std::size_t least,
                       std::size_t most) {
  for (std::size_t n = std::max<std::size_t>(least, 2); n < most; ++n) {
    const auto count = static_cast<double>(n);
    const Uncertain mean{0, deviation * deviation / count, count - 1};
    if (half_width(mean, risk) <= precision) return n;
  }
  return most;
}

Race::Race(std::size_t candidates, const RaceRule& rule, std::uint64_t seed)
    : rule_(rule), random_(seed), seconds_(candidates, 0) {
  result_.lanes.resize(candidates);
}

double Race::left() const {
  return work_->seconds_left ? work_->seconds_left() : std::numeric_limits<double>::infinity();
}

std::vector<std::size_t> Race::alive() const {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < result_.lanes.size(); ++i)
    if (result_.lanes[i].failure.empty() && !result_.lanes[i].dropped_in) candidates.push_back(i);
  return candidates;
}

double Race::seconds_of(const std::vector<std::size_t>& candidates) const {
  double sum = 0;
  for (const std::size_t i : candidates) sum += seconds_[i];
  return sum;
}

bool Race::time_for(const std::vector<std::size_t>& candidates, double reserve) const {
  return seconds_of(candidates) + reserve <= left();
}

Race::Go Race::run_round(std::vector<std::size_t> candidates, bool final, std::size_t planned) {
  std::size_t& rounds = final ? result_.final_rounds : result_.rounds;
  std::shuffle(candidates.begin(), candidates.end(), random_);
  for (Lane& lane : result_.lanes) (final ? lane.final : lane.screening).resize(rounds + 1);
  for (const std::size_t i : candidates) {
    if (work_->progress)
      work_->progress({final, rounds + 1, planned, i, candidates.size()}, result_);
    const double before = left();
    const RunValue value = work_->run(i);
    if (std::isfinite(before)) seconds_[i] = before - left();
    Lane& lane = result_.lanes[i];
    stopped_ = value.stopped;
    out_of_time_ = value.out_of_time;
    if (stopped_ || out_of_time_) break;
    (final ? lane.final : lane.screening)[rounds] = value.cost;
    if (!value.cost) lane.failure = value.failure.empty() ? "gave no value" : value.failure;
    // Without its reference there is nothing to compare with.
    stopped_ = i == 0 && !value.cost;
    if (stopped_) break;
  }
  ++rounds;
  return stopped_ || out_of_time_ ? Go::stop : Go::on;
}

void Race::drop_losers() {
  const auto candidates = alive();
  if (candidates.size() < 3) return;  // one beside "as it is": the final tells
  std::optional<std::size_t> leader;
  double least = 0;
  for (const std::size_t i : candidates) {
    const auto ratio = log_ratio(result_.lanes[i].screening, result_.lanes[0].screening);
    const double mean = i == 0 ? 0 : ratio ? ratio->value : std::numeric_limits<double>::infinity();
    if (!leader || mean < least) {
      leader = i;
      least = mean;
    }
  }
  const double risk = rule_.risk / static_cast<double>(candidates.size() - 1);
  for (const std::size_t i : candidates) {
    if (i == 0 || i == *leader) continue;  // "as it is" is what the others are told against
    Lane& lane = result_.lanes[i];
    const auto ratio = log_ratio(lane.screening, result_.lanes[*leader].screening);
    if (ratio && interval_of(*ratio, risk).low > 0) lane.dropped_in = result_.rounds;
  }
}

void Race::screen() {
  if (alive().size() < 3) return;  // nothing to choose
  const double until = left() * (1 - rule_.screening_part);
  while (result_.rounds < rule_.most_rounds) {
    const auto candidates = alive();
    if (candidates.size() < 3 && result_.rounds > 0) return;
    const std::size_t finalists = std::min(rule_.most_finalists + 1, candidates.size());
    const double mean = seconds_of(candidates) / static_cast<double>(candidates.size());
    const double reserve = mean * static_cast<double>(finalists * rule_.least_final);
    if (result_.rounds > 0 && !time_for(candidates, reserve)) return;
    if (result_.rounds >= rule_.least_rounds && left() < until) return;
    if (run_round(candidates, false, rule_.most_rounds) == Go::stop) return;
    if (result_.rounds >= rule_.least_rounds) drop_losers();
  }
}

void Race::choose_finalists() {
  auto candidates = alive();
  std::erase(candidates, std::size_t{0});
  const auto mean_of = [&](std::size_t i) {
    const auto ratio = log_ratio(result_.lanes[i].screening, result_.lanes[0].screening);
    return ratio ? ratio->value : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::size_t a, std::size_t b) { return mean_of(a) < mean_of(b); });
  if (candidates.size() > rule_.most_finalists) candidates.resize(rule_.most_finalists);
  for (const std::size_t i : candidates) result_.lanes[i].finalist = true;
}

double Race::final_risk() const {
  const auto finalists = std::count_if(result_.lanes.begin(), result_.lanes.end(),
                                       [](const Lane& lane) { return lane.finalist; });
  return rule_.risk / static_cast<double>(std::max<std::ptrdiff_t>(finalists, 1));
}

std::size_t Race::final_rounds_wanted() const {
  constexpr double part_of_gain = 0.1;  // a gain of one half need not be known to 1 %
  std::size_t most = rule_.least_final;
  for (const Lane& lane : result_.lanes) {
    if (!lane.finalist) continue;
    const auto ratio = log_ratio(lane.screening, result_.lanes[0].screening);
    if (!ratio || ratio->freedom < 2) return rule_.most_final;  // nothing is known of its spread
    const double half = std::max(rule_.precision, part_of_gain * std::abs(ratio->value));
    const double of_a_round = ratio->deviation() * std::sqrt(ratio->freedom + 1);
    most = std::max(
        most, rounds_for(half, of_a_round, final_risk(), rule_.least_final, rule_.most_final));
  }
  return most;
}

void Race::run_final() {
  const std::size_t wanted = final_rounds_wanted();
  while (result_.final_rounds < wanted) {
    std::vector<std::size_t> candidates{0};
    for (std::size_t i = 1; i < result_.lanes.size(); ++i)
      if (result_.lanes[i].finalist && result_.lanes[i].failure.empty()) candidates.push_back(i);
    if (candidates.size() < 2) return;
    if (result_.final_rounds > 0 && !time_for(candidates, 0)) return;
    if (run_round(candidates, true, wanted) == Go::stop) return;
  }
}

void Race::conclude() {
  const Lane& reference = result_.lanes[0];
  double best = 0;
  for (std::size_t i = 1; i < result_.lanes.size(); ++i) {
    Lane& lane = result_.lanes[i];
    const auto ratio = lane.finalist ? log_ratio(lane.final, reference.final)
                                     : log_ratio(lane.screening, reference.screening);
    if (!ratio) continue;
    const Estimate& found = lane.against_reference.emplace(
        estimate_of(*ratio, lane.finalist ? final_risk() : rule_.risk));
    if (!lane.finalist || found.n < rule_.least_final || !lane.failure.empty()) continue;
    if (*found.high < 0 && found.value <= -rule_.least_gain && found.value < best) {
      best = found.value;
      result_.best = i;
    }
  }
  bound();
}

void Race::bound() {
  const double risk = rule_.risk / static_cast<double>(result_.lanes.size() - 1);
  double least = 0, least_of_finalists = 0;
  bool is_known = true, has_finalist = false;
  for (std::size_t i = 1; i < result_.lanes.size(); ++i) {
    const Lane& lane = result_.lanes[i];
    if (!lane.failure.empty()) continue;
    const auto& reference = result_.lanes[0];
    const auto ratio = lane.finalist ? log_ratio(lane.final, reference.final)
                                     : log_ratio(lane.screening, reference.screening);
    const auto found = ratio ? std::optional(estimate_of(*ratio, risk)) : std::nullopt;
    const bool is_enough = found && (!lane.finalist || found->n >= rule_.least_final);
    is_known = is_known && is_enough;
    if (!is_enough) continue;
    least = std::min(least, *found->low);
    if (!lane.finalist) continue;
    has_finalist = true;
    least_of_finalists = std::min(least_of_finalists, *found->low);
  }
  if (!has_finalist) return;
  result_.open_of_finalists = least_of_finalists;
  if (is_known) result_.open = least;
}

RaceResult Race::run(const RaceWork& work) {
  work_ = &work;
  if (result_.lanes.size() > 1) {
    screen();
    if (!stopped_ && !out_of_time_) {
      choose_finalists();
      run_final();
    }
    conclude();
  }
  result_.complete = !stopped_;
  return result_;
}

}  // namespace numatlas
