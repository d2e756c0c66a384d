#include "survey/plan.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "benchmarks/common.h"
#include "benchmarks/parse.h"
#include "machine/source.h"
#include "run/estimate_time.h"

namespace numatlas {
namespace {

// Below this not even the thinnest plans have a sample a point that says something.
constexpr double least_per_benchmark = 0.5;
constexpr double least_share = 0.1;
// The estimate is wrong by a factor now and then; with less than this part of it the time
// would not be kept at all.
constexpr double least_part = 0.25;

/// Those that were chosen, what is worth most first.
std::vector<SurveyItem> candidates(const SurveyOptions& options, const Machine& machine) {
  const auto named = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<SurveyItem> all;
  const auto add = [&](const Benchmark& benchmark, const std::string& question,
                       const Hook<SurveyPart(const Machine&)>& survey) {
    SurveyPart part = survey(machine);
    const std::string name = benchmark.name + (question.empty() ? "" : "-" + question);
    const bool on_gpus = question == "gpus";
    if (part.worth <= 0 && part.reason.empty()) return;
    if (!options.only.empty() && !named(options.only, name)) return;
    if (named(options.without, name)) return;
    SurveyItem item;
    item.name = name;
    item.benchmark = benchmark.name;
    item.worth = part.worth;
    item.skip = part.reason;
    item.full = std::move(part.words);
    item.thins = std::move(part.thins);
    const bool cached = std::ranges::any_of(
        machine.nodes, [](const NumaNode& node) { return !node.side_caches.empty(); });
    if (const auto own = options.words.find(name); own != options.words.end()) {
      item.full = own->second;
    } else if (cached && part.worth > 0 && benchmark.is_of_memory && !on_gpus) {
      item.sooner = survey(without_side_caches(machine)).words;
      item.sooner.push_back("--ignore-side-caches");
    }
    all.push_back(std::move(item));
  };
  for (const Benchmark& benchmark : all_benchmarks()) {
    add(benchmark, "", benchmark.survey);
    for (const auto& [question, survey] : benchmark.more_surveys) add(benchmark, question, survey);
    if (benchmark.by_gpus) add(benchmark, "gpus", benchmark.by_gpus->survey);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const SurveyItem& a, const SurveyItem& b) { return a.worth > b.worth; });
  return all;
}

std::vector<double> worths_of(const std::vector<SurveyItem>& all) {
  std::vector<double> worths;
  for (const SurveyItem& one : all) worths.push_back(one.skip.empty() ? one.worth : 0);
  return worths;
}

/// Ranks have the CPUs that their launcher gave them.
void leave_out_cpus(std::vector<std::string>& words) {
  const auto option = std::find(words.begin(), words.end(), "--cpus");
  if (option != words.end()) words.erase(option, option + 2);
}

/// The item with these words within its share, as far as its axes can be thinned. Error: it cannot
/// run here.
Expected<SurveyItem> thinned(SurveyItem item, const std::vector<std::string>& words,
                             const SurveyOptions& options, const Machine& machine, Comm& comm) {
  item.words = words;
  item.words.push_back("--skip-too-large");
  item.kept.clear();
  const auto parsed = TRY(parse_item(item, options, item.share));
  auto setup = TRY(set_up(parsed.benchmark, parsed.options, comm, &machine));
  std::vector<double> seconds = least_times_of(parsed.benchmark, setup);
  for (double& one : seconds) one *= item.slower;
  Thinned rest = thinned(setup.plan, seconds, item.thins, item.share);
  item.least_time = rest.seconds;
  item.kept = std::move(rest.kept);
  item.left_out = std::move(rest.text);
  if (!options.dry_run) return item;
  keep_only(setup, [&](const PlannedCase& one) { return stays(one, item.kept); });
  item.plan = plan_text(setup, parsed.options, false);
  return item;
}

/// That of rank 0.
Expected<Machine> machine_of_first(const Machine& mine, Comm& comm) {
  if (comm.size() == 1) return mine;
  const auto text = TRY(comm.broadcast(comm.rank() == 0 ? to_json(mine).dump() : ""));
  return machine_from_json(nlohmann::json::parse(text));
}

void share_out(std::vector<SurveyItem>& all, double seconds) {
  const std::vector<double> shares = shares_of(seconds, worths_of(all));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].share = all[i].planned_share = shares[i];
}

}  // namespace

std::vector<double> shares_of(double seconds, const std::vector<double>& worths) {
  const double all = std::accumulate(worths.begin(), worths.end(), 0.0);
  std::vector<double> shares;
  for (double worth : worths) shares.push_back(all > 0 ? seconds * worth / all : 0);
  return shares;
}

double next_share(double seconds_left, const std::vector<double>& worths_left) {
  if (worths_left.empty()) return 0;
  return std::max(least_share, shares_of(std::max(0.0, seconds_left), worths_left).front());
}

double kept_share(double left, double planned, double least_time) {
  return std::max(left, std::min(planned, least_time));
}

bool is_too_little(double share, double least_time) { return share < least_part * least_time; }

double least_survey_time(std::size_t benchmarks) {
  return least_per_benchmark * static_cast<double>(benchmarks);
}

std::string task_text(const std::string& command, const SurveyOptions& options,
                      const std::vector<std::string>& only) {
  std::string text = fmt::format("{} --time {}", command, to_text(options.time));
  if (!only.empty()) text += fmt::format(" --only {}", fmt::join(only, ","));
  if (!options.without.empty())
    text += fmt::format(" --without {}", fmt::join(options.without, ","));
  return text + (options.dry_run ? " --dry-run" : "");
}

std::vector<std::string> names_of_survey() {
  std::vector<std::string> names;
  for (const SurveyItem& item : candidates({}, {}))  // what is there decides only what is skipped
    names.push_back(item.name);
  std::ranges::sort(names);
  return names;
}

std::string reason_of(const SurveyItem& item, const Error& error) {
  return error.subject == item.benchmark ? error.message : full_text(error);
}

bool is_not_for_here(const Error& error) {
  return error.kind == ErrorKind::unavailable || error.kind == ErrorKind::resource ||
         error.kind == ErrorKind::usage || error.kind == ErrorKind::permission;
}

Expected<ParsedRun> parse_item(const SurveyItem& item, const SurveyOptions& options, double share) {
  std::vector<std::string> words = item.words;
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--machine", options.machine);
  add("--engine", options.null_engine ? "null" : "");
  if (options.dry_run) words.push_back("--dry-run");
  auto parsed = parse_run(item.benchmark, words);
  if (!parsed) return parsed;
  parsed->options.arguments = item.words;
  parsed->options.quiet = options.quiet;
  const std::chrono::duration<double> seconds(share);
  parsed->options.stop.time = std::chrono::duration_cast<Nanoseconds>(seconds);
  parsed->options.time_of_all = true;
  parsed->options.kept = item.kept;
  return parsed;
}

Expected<std::vector<SurveyItem>> plan_survey(const SurveyOptions& options, const Machine& machine,
                                              Comm& comm) {
  const auto first = TRY(machine_of_first(machine, comm));
  std::vector<SurveyItem> all = candidates(options, first);
  const double seconds = std::chrono::duration<double>(options.time).count();
  if (all.empty()) return fail_usage("--without", "excludes every benchmark", "exclude fewer");
  // What does not apply is known when its plan was tried: then the others have more.
  share_out(all, seconds);
  for (SurveyItem& item : all) {
    if (!item.skip.empty()) continue;
    if (comm.size() > 1) {
      leave_out_cpus(item.full);
      leave_out_cpus(item.sooner);
    }
    TRY(thin(item, options, machine, comm));
  }
  const auto applying = static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [](const SurveyItem& item) { return item.skip.empty(); }));
  const double least = least_survey_time(applying);
  if (seconds < least) {
    return fail_usage("--time",
                      fmt::format("{:g} s is too little for {} benchmark{}: at least {:g} s",
                                  seconds, applying, applying == 1 ? "" : "s", least),
                      applying == 1 ? "give it more" : "give more, or choose fewer with --only");
  }
  share_out(all, seconds);
  for (SurveyItem& item : all) {
    if (!item.skip.empty()) continue;
    TRY(thin(item, options, machine, comm));
  }
  return all;
}

Expected<void> thin(SurveyItem& item, const SurveyOptions& options, const Machine& machine,
                    Comm& comm) {
  auto fits = thinned(item, item.full, options, machine, comm);
  if (!fits) {
    if (!is_not_for_here(fits.error())) return fail(fits.error());
    item.skip = reason_of(item, fits.error());
    return {};
  }
  // What is past memory-side caches of many GiB takes long to prepare: where there is no time for
  // it, the same past the caches of the CPUs only.
  if (fits->least_time > item.share && !item.sooner.empty()) {
    auto sooner = thinned(item, item.sooner, options, machine, comm);
    if (!sooner && !is_not_for_here(sooner.error())) return fail(sooner.error());
    if (sooner && sooner->least_time < fits->least_time) {
      sooner->left_out = "memory past the memory-side caches" +
                         (sooner->left_out.empty() ? "" : "; " + sooner->left_out);
      fits = std::move(sooner);
    }
  }
  item = *std::move(fits);
  return {};
}

}  // namespace numatlas
