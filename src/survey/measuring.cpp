#include "survey/measuring.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/terminal.h"
#include "engine/agreement.h"
#include "survey/plan.h"

namespace numatlas {

SurveyProgress::SurveyProgress(bool shown, double seconds_asked)
    : shown_(shown),
      terminal_(isatty(STDERR_FILENO) == 1),
      asked_(seconds_asked),
      start_(std::chrono::steady_clock::now()) {}

double SurveyProgress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string SurveyProgress::head() const {
  return fmt::format("[{:3.0f} s of {:.0f} s]", seconds(), asked_);
}

void SurveyProgress::point(const std::string& benchmark, std::size_t done, std::size_t all) {
  if (!shown_ || !terminal_) return;
  const std::string line =
      fmt::format("{} {}: {} of {} cases", head(), benchmark, std::min(done + 1, all), all);
  say("\r\033[K" + cut_to_terminal(line, STDERR_FILENO));
}

void SurveyProgress::end(const std::string& benchmark, const std::string& outcome) {
  if (shown_ && !terminal_) say(fmt::format("{} {}: {}\n", head(), benchmark, outcome));
}

void SurveyProgress::clear() const {
  if (shown_ && terminal_) say("\r\033[K");
}

Measuring::Measuring(const SurveyOptions& options, const Machine& machine,
                     std::vector<SurveyItem>& items, Comm& comm, MeasuringHooks hooks)
    : options_(options), machine_(machine), items_(items), comm_(comm), hooks_(std::move(hooks)) {
  for (const SurveyItem& item : items_) {
    if (!item.skip.empty()) skipped_.push_back({item.name, item.skip});
  }
}

/// Seconds for an item, the same on every rank: of what is not spent, nor kept for the benchmarks
/// that have their first values.
Expected<double> Measuring::share_of(std::size_t index) {
  std::vector<double> worths;
  for (std::size_t i = index; i < items_.size(); ++i)
    worths.push_back(items_[i].skip.empty() ? items_[i].worth : 0);
  session_->reserve({});
  return comm_.broadcast_value(next_share(session_->free_time().count(), worths));
}

void Measuring::skip(SurveyItem& item, const std::string& why, const std::string& reason) {
  hooks_.ended(item.name, "skipped: " + why);
  skipped_.push_back({item.name, reason});
}

/// Gives every point of a benchmark its first value.
Expected<void> Measuring::measure(std::size_t index) {
  const SurveyItem& item = items_[index];
  auto parsed = TRY(parse_item(item, options_, item.share));
  taken_.push_back({index, std::move(parsed), {}});
  Taken& taken = taken_.back();
  taken.hooks.progress = [this, index](std::size_t done, std::size_t all) {
    hooks_.point(items_[index].name, done, all);
  };
  begun_.insert(index);
  auto setup = TRY(set_up(taken.run.benchmark, taken.run.options, comm_));
  const std::size_t runs = session_->runs().size();
  auto added = session_->add(taken.run.benchmark, taken.run.options, taken.hooks, std::move(setup),
                             Session::Seconds(item.share));
  if (session_->runs().size() > runs) taken.measured = session_->runs().back().get();
  if (!added) return added;
  TRY(taken.measured->check_measured());
  const auto& points = taken.measured->cases();
  const auto measured = std::count_if(points.begin(), points.end(),
                                      [](const CaseRun& run) { return run.visits() > 0; });
  const auto skipped = static_cast<std::ptrdiff_t>(points.size()) - measured;
  hooks_.ended(item.name,
               fmt::format("{} case{} measured once{}", measured, measured == 1 ? "" : "s",
                           skipped > 0 ? fmt::format(", {} skipped", skipped) : ""));
  return {};
}

Expected<void> Measuring::run_item(std::size_t index) {
  SurveyItem& item = items_[index];
  item.share = TRY(share_of(index));
  const auto slower = TRY(comm_.broadcast_value(session_->slower()));
  // The first values may take more than their share: later rounds have less then.
  constexpr double more_than_share = 1.5;
  item.slower = std::max(1.0, slower / more_than_share);
  // Earlier benchmarks took more or less time than estimated, so less or more is left for this one.
  TRY(thin(item, options_, machine_, comm_));
  item.share = kept_share(item.share, item.planned_share, item.least_time);
  const auto over = TRY(comm_.broadcast_value(session_->is_over() ? 1 : 0));
  if (over > 0 && item.skip.empty()) item.skip = "no time left";
  const double others = session_->free_time().count() - item.share;
  session_->reserve(Session::Seconds(std::max(0.0, others)));
  if (item.skip.empty() && !begun_.empty() && is_too_little(item.share, item.least_time)) {
    item.skip = fmt::format("not enough time left (needs about {:.1f} s)", item.least_time);
  }
  if (!item.skip.empty()) {
    skip(item, item.skip, item.skip);
    return {};
  }
  const auto done = measure(index);
  if (done) return {};
  if (!is_not_for_here(done.error())) return done;
  if (BenchmarkRun* const run = taken_.back().measured; run != nullptr) run->give_up(done.error());
  skip(item, full_text(done.error()), reason_of(item, done.error()));
  return {};
}

void Measuring::keep_for_end() {
  if (!hooks_.ending) return;
  std::size_t cases = 0;
  for (const auto& run : session_->runs()) cases += run->cases().size();
  session_->keep_for_end(Session::Seconds(hooks_.ending(cases)));
}

Expected<void> Measuring::run(double seconds) {
  session_.emplace(comm_,
                   SessionOptions{.time = Session::Seconds(seconds),
                                  .twins = true,
                                  .keeps_time = true,
                                  .null_engine = options_.null_engine},
                   [this](BenchmarkRun&) {
                     keep_for_end();
                     return hooks_.visited ? hooks_.visited() : Expected<void>{};
                   });
  keep_for_end();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].skip.empty()) continue;
    TRY(run_item(i));
    if (!hooks_.begun) continue;
    TRY(hooks_.begun());
  }
  session_->reserve({});
  const auto finished = session_->finish();
  if (finished && session_->rounds() > 1)
    hooks_.ended("all", fmt::format("{} rounds over all cases", session_->rounds()));
  return finished;
}

/// What a kernel gave that was not what it should be; rank 0 knows.
std::optional<Error> Measuring::find_wrong() const {
  for (const Taken& taken : taken_) {
    if (taken.measured != nullptr && taken.measured->wrong()) return taken.measured->wrong();
  }
  return std::nullopt;
}

Expected<void> Measuring::conclude(const Expected<void>& ran) {
  const auto concluded = session_->conclude(ran);
  const auto wrong = find_wrong();
  if (concluded) return agree(comm_, wrong);
  if (wrong && wrong->kind == concluded.error().kind) return fail(*wrong);
  return concluded;
}

void Measuring::describe() {
  for (const Taken& taken : taken_) {
    if (taken.measured == nullptr) continue;
    taken.measured->update(session_->pilots());
    taken.measured->describe();
  }
}

void Measuring::each_report(
    const std::function<void(const Benchmark&, const RunOptions&, const RunReport&)>& see) const {
  for (const Taken& taken : taken_) {
    const BenchmarkRun* const run = taken.measured;
    if (run != nullptr && (run->has_results() || !run->skipped()))
      see(taken.run.benchmark, taken.run.options, run->report());
  }
}

bool Measuring::has_figures() const {
  return std::ranges::any_of(taken_, [](const Taken& taken) {
    return taken.measured != nullptr && taken.measured->has_figures();
  });
}

std::vector<double> Measuring::taken() const {
  std::vector<double> seconds(items_.size(), 0);
  for (const Taken& taken : taken_) {
    if (taken.measured != nullptr) seconds[taken.item] = taken.measured->spent().count();
  }
  return seconds;
}

}  // namespace numatlas
