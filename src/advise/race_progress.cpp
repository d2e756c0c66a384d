#include "advise/race_progress.h"

#include <chrono>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "advise/advice.h"
#include "base/terminal.h"
#include "base/text.h"

namespace numatlas {

std::string race_text(const RaceProgress& progress, const RaceResult& so_far,
                      const std::vector<Candidate>& candidates, const Metric& metric) {
  std::string text = fmt::format("{}, round {} of at most {}, {} candidates",
                                 progress.final ? "final" : "screening", progress.round,
                                 progress.rounds, progress.alive);
  std::optional<std::size_t> ahead;
  double least = 0;
  for (std::size_t i = 1; i < so_far.lanes.size(); ++i) {
    const auto& runs = progress.final ? so_far.lanes[i].final : so_far.lanes[i].screening;
    const auto& reference = progress.final ? so_far.lanes[0].final : so_far.lanes[0].screening;
    const auto ratio = log_ratio(runs, reference);
    if (!ratio || ratio->value >= least) continue;
    ahead = i;
    least = ratio->value;
  }
  if (ahead)
    text += fmt::format("; ahead: {}, {} than as it is", printable(candidates[*ahead].name),
                        short_gain_text(least, metric));
  return text;
}

void RaceLine::show(const RaceProgress& progress, const RaceResult& so_far,
                    const std::vector<Candidate>& candidates, const Metric& metric) {
  if (terminal_) {
    say(fmt::format("\r\033[K{}; now: {}", race_text(progress, so_far, candidates, metric),
                    printable(candidates[progress.candidate].name)));
    shown_ = true;
    return;
  }
  constexpr std::chrono::seconds between_lines{10};
  const auto now = std::chrono::steady_clock::now();
  if (progress.final == final_ && now - last_ < between_lines) return;
  last_ = now;
  final_ = progress.final;
  say(race_text(progress, so_far, candidates, metric) + "\n");
}

void RaceLine::clear() {
  if (shown_) say("\r\033[K");
  shown_ = false;
}

}  // namespace numatlas
