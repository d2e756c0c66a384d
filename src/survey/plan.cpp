#include "survey/plan.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "benchmarks/all.h"
#include "benchmarks/survey_words.h"
#include "machine/source.h"
#include "run/estimate_time.h"
#include "survey/share.h"

namespace numatlas {
namespace {

/// What is past memory-side caches of many GiB takes long to prepare: where there is no time for
/// it, the same past the caches of the CPUs only.
void add_ways_within(std::vector<SurveyWay>& ways, const Benchmark& benchmark,
                     const Machine& machine) {
  const bool any = std::ranges::any_of(
      machine.nodes, [](const NumaNode& node) { return !node.side_caches.empty(); });
  if (!any) return;
  for (SurveyWay way : benchmark.survey(without_side_caches(machine)).ways) {
    way.words.push_back("--ignore-side-caches");
    way.left_out =
        "memory past the memory-side caches" + (way.left_out.empty() ? "" : "; " + way.left_out);
    ways.push_back(std::move(way));
  }
}

/// Those that were chosen, what is worth most first.
std::vector<SurveyItem> candidates(const SurveyOptions& options, const Machine& machine) {
  const auto named = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<SurveyItem> all;
  const auto add = [&](const Benchmark& benchmark, bool on_gpus) {
    SurveyPart part = on_gpus ? benchmark.survey_on_gpus(machine) : benchmark.survey(machine);
    const std::string name = benchmark.name + (on_gpus ? "-gpus" : "");
    if (part.worth <= 0 && part.reason.empty()) return;
    if (!options.only.empty() && !named(options.only, name)) return;
    if (named(options.without, name)) return;
    SurveyItem item;
    item.name = name;
    item.benchmark = benchmark.name;
    item.worth = part.worth;
    item.skip = part.reason;
    const auto other = options.ways.find(name);
    item.ways = other == options.ways.end() ? std::move(part.ways) : other->second;
    if (other == options.ways.end() && part.worth > 0 && benchmark.is_of_memory && !on_gpus)
      add_ways_within(item.ways, benchmark, machine);
    if (named(options.reduced, name) && item.ways.size() > 1) item.ways.erase(item.ways.begin());
    all.push_back(std::move(item));
  };
  for (const Benchmark& benchmark : all_benchmarks()) {
    add(benchmark, false);
    add(benchmark, true);
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

/// Ranks have the CPUs that their launcher gave them: ways that differ in CPUs only are one.
std::vector<SurveyWay> ways_of_ranks(std::vector<SurveyWay> ways) {
  std::vector<SurveyWay> kept;
  for (SurveyWay& way : ways) {
    const auto option = std::find(way.words.begin(), way.words.end(), "--cpus");
    if (option != way.words.end()) way.words.erase(option, option + 2);
    const bool is_there = std::any_of(
        kept.begin(), kept.end(), [&](const SurveyWay& other) { return other.words == way.words; });
    if (!is_there) kept.push_back(std::move(way));
  }
  return kept;
}

/// The item as it would run in this way. Error: it cannot.
Expected<SurveyItem> tried(SurveyItem item, const SurveyWay& way, const SurveyOptions& options,
                           const Machine& machine, Comm& comm) {
  item.words = way.words;
  item.left_out = way.left_out;
  const auto parsed = TRY(parse_item(item, options, item.share));
  const auto setup = TRY(set_up(parsed.benchmark, parsed.options, comm, &machine));
  item.least_time = item.slower * least_time_of(parsed.benchmark, setup);
  if (options.dry_run) item.plan = plan_text(setup, parsed.options);
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
    if (comm.size() > 1) item.ways = ways_of_ranks(std::move(item.ways));
    const auto first_way = tried(item, item.ways.front(), options, machine, comm);
    if (first_way) continue;
    if (!is_not_for_here(first_way.error())) return fail(first_way.error());
    item.skip = reason_of(item, first_way.error());
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
    TRY(choose_way(item, options, machine, comm));
  }
  return all;
}

Expected<void> choose_way(SurveyItem& item, const SurveyOptions& options, const Machine& machine,
                          Comm& comm) {
  std::vector<SurveyItem> tries;
  std::vector<double> least;
  for (const SurveyWay& way : item.ways) {
    auto one = tried(item, way, options, machine, comm);
    if (!one) {
      if (!is_not_for_here(one.error())) return fail(one.error());
      if (tries.empty()) item.skip = reason_of(item, one.error());
      break;
    }
    least.push_back(one->least_time);
    tries.push_back(*std::move(one));
    if (least.back() <= item.share) break;
  }
  if (!tries.empty()) item = SurveyItem(tries[way_within(item.share, least)]);
  return {};
}

}  // namespace numatlas
