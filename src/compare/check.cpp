#include "compare/check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/text.h"
#include "base/version.h"
#include "compare/hosts.h"
#include "record/labels.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

/// Why a host was not judged.
struct Unjudged {
  std::string command;  ///< that says nothing of it; "" for all
  std::string reason;
  std::string brief{};  ///< for the first line: "last seen 3 Nov"
  friend bool operator==(const Unjudged&, const Unjudged&) = default;
};

/// What hosts are held against: the figure of its case that says so (1 or 0), and words.
namespace against {
struct Against {
  const char *figure, *words;
};
constexpr Against peers{"host_against_peers", "hosts of the same kind"};
constexpr Against past{"host_against_past", "earlier runs of the same host"};
constexpr Against known{"host_against_known", "what others published of such machines"};
constexpr Against expected{"host_against_expected", "--expect"};
constexpr Against all[] = {peers, past, known, expected};
}  // namespace against

/// What is known of a host so far.
struct Host {
  std::vector<Case> findings;
  std::vector<Case> normal;  ///< its figures beside what others published
  std::vector<Unjudged> unjudged;
  bool judged = false;     ///< by any command
  std::string distrust;    ///< why its newest figures are unreliable; "" if they are not
  std::string incomplete;  ///< why its newest run did not run to its end
  std::string newest;      ///< start of its newest run
  std::set<std::string> held_against;   ///< figures of what its newest results were
  std::size_t runs = 0, slow_runs = 0;  ///< that were compared with those of other hosts; slow ones

  bool has(const char* verdict) const {
    return std::ranges::any_of(
        findings, [&](const auto& one) { return label_of(one, "finding") == verdict; });
  }
};
using Hosts = std::map<std::string, Host>;

std::size_t count_if(const Hosts& hosts, const std::function<bool(const Host&)>& is) {
  return static_cast<std::size_t>(
      std::ranges::count_if(hosts, [&](const auto& host) { return is(host.second); }));
}

/// What is slow among peers as well is one finding.
void add_fall(Host& host, const Case& fall) {
  for (Case& one : host.findings) {
    const auto same = [&](const char* label) {
      return label_of(one, label) == label_of(fall, label);
    };
    if (label_of(one, "finding") != finding::slow || !same("of_command") || !same("case") ||
        !same("metric"))
      continue;
    for (auto& [name, text] : one.labels) {
      if (name == "since") text = label_of(fall, name);
      if (name == "evidence")
        text += fmt::format("{}{} against {}", text.empty() ? "" : "; ",
                            change_text(change_of(fall)), label_of(fall, "against"));
    }
    return;
  }
  host.findings.push_back(fall);
}

/// Judges the runs of one command.
class CommandCheck {
 public:
  /// `runs` by their starts.
  CommandCheck(const std::vector<const Rows*>& runs, const CheckRule& rule, Hosts& hosts)
      : rule_(rule), hosts_(hosts) {
    for (const Rows* run : runs) {
      std::map<std::string, int> same_name;  // containers of one host
      for (HostRows& host : hosts_of(*run, rule.metric)) {
        const std::string name = host.name();
        runs_[{name, same_name[name]++}].push_back(std::move(host));
      }
    }
  }

  void judge() {
    std::size_t oldest = 0;
    for (const auto& [host, runs] : runs_) oldest = std::max(oldest, runs.size());
    for (std::size_t age = oldest; age-- > 0;) judge_peers_of(age);
    for (const Case& fall : judge_fleet(short_pasts_, rule_.slow))
      add_fall(hosts_[label_of(fall, "host")], fall);
  }

  const std::optional<TwoGroups>& groups() const { return groups_; }
  std::string command() const { return name_in_survey(*runs_.begin()->second.back().run); }

  /// Hosts of other commands that have no result of this one, though enough have to be compared.
  std::vector<std::string> missing_hosts() const {
    std::set<std::string> here;
    for (const auto& [host, runs] : runs_) here.insert(host.first);
    std::vector<std::string> missing;
    if (here.size() < rule_.slow.least_hosts) return missing;
    for (const auto& [name, host] : hosts_)
      if (!here.contains(name)) missing.push_back(name);
    return missing;
  }

  /// Hosts that other commands judge, whose run of this one is more than a day older than the
  /// newest, with its day: something may keep them from measuring.
  std::vector<std::string> old_hosts() const {
    std::optional<std::int64_t> last;
    for (const auto& [host, runs] : runs_)
      last = std::max(last, unix_seconds(runs.back().run->started));
    std::vector<std::string> old;
    for (const auto& [host, runs] : runs_) {
      const std::string& started = runs.back().run->started;
      const auto seconds = unix_seconds(started);
      if (seconds && *last - *seconds > seconds_per_day && hosts_.at(host.first).judged)
        old.push_back(fmt::format("{} ({})", host.first, day_of(started)));
    }
    return old;
  }

  /// The newest run of each host.
  std::vector<const Rows*> newest() const {
    std::vector<const Rows*> all;
    for (const auto& [host, runs] : runs_) add_once(all, runs.back().run);
    return all;
  }

 private:
  using Runs = std::vector<HostRows>;  ///< of one host, by their starts

  /// The rows of the newest run, and those that only another run of the day before it has: a run
  /// with other options hides nothing.
  static HostRows newest_of(const Runs& runs) {
    HostRows newest = runs.back();
    std::set<std::string> known;
    for (const auto& [row, run] : newest.rows) known.insert(key_of(*row));
    const auto last = unix_seconds(newest.run->started);
    for (std::size_t i = runs.size() - 1; i-- > 0;) {
      const auto started = unix_seconds(runs[i].run->started);
      if (!last || !started || *last - *started >= seconds_per_day) break;
      for (const auto& one : runs[i].rows)
        if (known.insert(key_of(*one.first)).second) newest.rows.push_back(one);
    }
    return newest;
  }

  void judge_peers_of(std::size_t age) {
    std::vector<HostRows> of_age;
    std::vector<const Runs*> all;
    for (const auto& [host, runs] : runs_) {
      if (runs.size() <= age) continue;
      of_age.push_back(age == 0 ? newest_of(runs) : runs[runs.size() - 1 - age]);
      all.push_back(&runs);
    }
    Judged judged = judge_peers(of_age, rule_.slow);
    if (age == 0) groups_ = judged.groups;
    std::map<std::size_t, std::vector<Case>> found;
    for (auto& [host, one] : judged.findings) found[host].push_back(std::move(one));
    for (std::size_t i = 0; i < of_age.size(); ++i) {
      const HostRows& mine = of_age[i];
      Host& host = hosts_[mine.name()];
      const auto its = found.find(i);
      const bool acquitted =
          its != found.end() && label_of(its->second.front(), "finding") == finding::cleared;
      const bool is_slow = its != found.end() && !acquitted;
      const auto reason = judged.unjudged.find(i);
      if (reason == judged.unjudged.end()) {
        ++host.runs;
        host.slow_runs += is_slow ? 1 : 0;
      }
      if (age > 0) continue;
      host.newest = std::max(host.newest, mine.run->started);
      if (mine.run->is_unreliable()) host.distrust = mine.run->doubt;
      if (!mine.run->complete) host.incomplete = mine.run->why_incomplete();
      if (is_slow) std::ranges::move(its->second, std::back_inserter(host.findings));
      const std::string no_past = judge_past_of(host, mine, *all[i], acquitted);
      if (reason == judged.unjudged.end()) host.held_against.insert(against::peers.figure);
      if (no_past.empty()) host.held_against.insert(against::past.figure);
      if (reason == judged.unjudged.end() || no_past.empty())
        host.judged = true;
      else
        add_once(host.unjudged, Unjudged{mine.run->command, reason->second + ", and " + no_past});
    }
  }

  /// Earlier runs of the host that did the same as the newest.
  static std::vector<const HostRows*> past_of(const HostRows& newest, const Runs& runs) {
    std::vector<const HostRows*> past;
    for (const HostRows& one : runs) {
      const HostKind then = one.kind(), now = newest.kind();
      if (one.run != newest.run && then.cpu_model == now.cpu_model &&
          then.processes == now.processes && then.workers == now.workers)
        past.push_back(&one);
    }
    return past;
  }

  /// Why no row has enough of it; "" where one has. `acquitted`: a second run was as others are.
  std::string judge_past_of(Host& host, const HostRows& newest, const Runs& runs, bool acquitted) {
    const std::vector<const HostRows*> past = past_of(newest, runs);
    if (past.empty()) return "no earlier run";
    std::vector<std::unordered_map<std::string, const Row*>> by_key;
    for (const HostRows* then : past) {
      auto& keys = by_key.emplace_back();
      for (const auto& [row, run] : then->rows) keys.emplace(key_of(*row), row);
    }
    std::vector<PastRow> rows;
    bool enough = false;
    for (const auto& [row, run] : newest.rows) {
      PastRow& mine = rows.emplace_back(PastRow{newest.name(), row, run->started, {}});
      for (std::size_t i = 0; i < past.size(); ++i) {
        const auto its = by_key[i].find(key_of(*row));
        const std::string& started = past[i]->run->started;
        if (past[i]->run != run && its != by_key[i].end() && its->second->unit == row->unit &&
            started <= run->started &&
            place_difference(its->second->observed, row->observed).empty())
          mine.earlier.emplace_back(its->second, started);
      }
      enough = enough || mine.earlier.size() >= rule_.slow.least_hosts;
      if (!acquitted && !mine.earlier.empty() && mine.earlier.size() < rule_.slow.least_hosts)
        short_pasts_[key_of(*row)].push_back(mine);
    }
    const HostKind before = past.back()->kind();
    const std::string changed = alike(before, newest.kind())
                                    ? ""
                                    : "changed since the run before from " + hardware_text(before);
    if (!acquitted)
      for (const Case& fall : judge_past(rows, changed, rule_.slow)) add_fall(host, fall);
    return enough ? ""
                  : fmt::format("fewer than {} earlier runs that it can be compared with",
                                rule_.slow.least_hosts);
  }

  std::map<std::pair<std::string, int>, Runs> runs_;         ///< by host
  std::map<std::string, std::vector<PastRow>> short_pasts_;  ///< by key
  std::optional<TwoGroups> groups_;
  const CheckRule& rule_;
  Hosts& hosts_;
};

/// Notes of hosts that several commands name, one for all commands that name the same hosts.
template <class HostsOf>
void note_hosts(const std::vector<CommandCheck>& checks, HostsOf hosts_of, const char* what,
                RunReport& report) {
  std::map<std::string, std::vector<std::string>> commands;
  for (const CommandCheck& check : checks)
    if (const std::vector<std::string> hosts = (check.*hosts_of)(); !hosts.empty())
      commands[names_text(hosts)].push_back(check.command());
  for (const auto& [hosts, names] : commands)
    report.warnings.push_back(
        {"note", "", fmt::format("{}: {} {}", hosts, what, names_text(names))});
}

/// Holds the newest figures of each host against what is expected of it, which judges a host by
/// itself. Hosts without such a figure are not judged.
Expected<void> judge_expected(const std::vector<Expectation>& all,
                              const std::vector<const Rows*>& newest, Hosts& hosts) {
  if (all.empty() || newest.empty()) return {};
  for (auto& [name, host] : hosts) host.unjudged.clear();
  for (const Expectation& expected : all) {
    auto held = TRY(hold_against(expected, newest));
    for (const Case& one : held.findings) hosts[label_of(one, "host")].findings.push_back(one);
    for (auto& [name, host] : hosts) {
      if (std::ranges::find(held.hosts, name) == held.hosts.end())
        host.unjudged.push_back({"", fmt::format("no figure '{}' (--expect)", expected.name)});
    }
  }
  for (auto& [name, host] : hosts) {
    host.judged = host.unjudged.empty();
    if (host.judged) host.held_against.insert(against::expected.figure);
  }
  return {};
}

/// A figure beside what others published, with the run that it is of.
struct Beside {
  const Rows* run = nullptr;
  const Normal* normal = nullptr;
};

/// Of each host and figure the newest that has a verdict, else the newest: a later run with other
/// options, which could not be judged, hides nothing of the time before it up to this age.
std::vector<Beside> newest_beside(const std::vector<Rows>& all, std::int64_t max_age) {
  std::vector<const Rows*> runs;
  for (const Rows& run : all) runs.push_back(&run);
  std::ranges::stable_sort(runs, std::greater<>(), &Rows::started);
  std::vector<Beside> chosen;
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> places;
  for (const Rows* run : runs) {
    for (const Normal& one : run->normal) {
      const auto [place, is_first] = places.try_emplace(
          {run->hosts.front(), one.what, is_null_engine(run->engine)}, chosen.size());
      if (is_first) {
        chosen.push_back({run, &one});
        continue;
      }
      Beside& newer = chosen[place->second];
      const bool is_open = newer.normal->verdict == Normal::Verdict::none;
      const auto then = unix_seconds(run->started), last = unix_seconds(newer.run->started);
      const bool is_young = !then || !last || *last - *then <= max_age;
      if (is_open && is_young && one.verdict != Normal::Verdict::none) newer = {run, &one};
    }
  }
  return chosen;
}

/// Figures of hosts beside what others published of such machines, as their cases say it.
/// They judge a host where nothing else was asked for (--expect).
void judge_normal(const std::vector<Rows>& runs, const CheckRule& rule, Hosts& hosts) {
  const bool alone = rule.expected.empty();
  const auto max_age = rule.max_age.value_or(CheckRule::usual_age);
  for (const auto& [run, normal] : newest_beside(runs, max_age)) {
    const Normal& one = *normal;
    const std::string& name = run->hosts.front();
    Host& host = hosts.at(name);
    Case& beside = host.normal.emplace_back();
    beside.name = name + " " + one.what;
    beside.kernel = "";
    beside.labels = {{"finding", finding::normal},
                     {"host", name},
                     {"of_command", run->command},
                     {"metric", one.what},
                     {"verdict", to_text(one.verdict)},
                     {"against", one.group},
                     {"reason", one.reason},
                     {"evidence", to_text(one)},
                     {"remark", one.source}};
    const auto known = [&](double value) {
      return one.count > 0 ? std::optional(value) : std::nullopt;
    };
    Figure value{"value", one.unit, one.value, std::nullopt};
    beside.figures = {std::move(value),
                      plain_figure("others", "", static_cast<double>(one.count)),
                      plain_figure("others_median", one.unit, known(one.median)),
                      plain_figure("others_lowest", one.unit, known(one.low)),
                      plain_figure("others_highest", one.unit, known(one.high)),
                      plain_figure("limit", one.unit, one.limit)};
    if (one.verdict == Normal::Verdict::none) {
      if (is_null_engine(run->engine) && !host.judged)
        add_once(host.unjudged, Unjudged{"", "made by the null engine", "simulated"});
      continue;
    }
    host.held_against.insert(against::known.figure);
    if (alone) {
      host.judged = true;
      host.unjudged.clear();
    }
    if (one.verdict == Normal::Verdict::ok) continue;
    Row row;
    row.command = run->command;
    row.name = row.figure = one.what;
    row.unit = one.unit;
    host.findings.push_back(finding_of(finding::low, name, row, one.value.value, *one.limit,
                                       {.against = one.against, .more = to_text(one)}));
  }
}

/// "3 Nov" of a day in ISO 8601.
std::string date_text(const std::string& day) {
  constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (!unix_seconds(day + "T00:00:00Z")) return day;
  const int month = std::stoi(day.substr(5, 2)), number = std::stoi(day.substr(8, 2));
  return month < 1 || month > 12 ? day : fmt::format("{} {}", number, months[month - 1]);
}

std::string age_text(std::int64_t seconds) {
  if (seconds % seconds_per_day == 0) return count_text(seconds / seconds_per_day, "day");
  return fmt::format("{:.3g} hours", static_cast<double>(seconds) / (60 * 60));
}

/// Who was last seen before the last night of the others, or has nothing but old results, is not
/// judged. A night counts that two hosts measured in, and a quarter of many: one that measures
/// again makes nobody silent.
void mark_old(const CheckRule& rule, Hosts& hosts) {
  // Runs of one night are no further apart.
  constexpr std::int64_t seconds_of_night = std::int64_t{18} * 60 * 60;
  std::vector<std::string> starts;  // the newest first
  for (const auto& [name, host] : hosts)
    if (unix_seconds(host.newest)) starts.push_back(host.newest);
  if (starts.empty()) return;
  std::ranges::sort(starts, std::greater<>());
  // One host that measured again, or a few of many, are no night.
  const std::size_t few =
      starts.size() == 2 ? 1 : std::max<std::size_t>(2, (starts.size() + 3) / 4);
  const std::string& night = starts[std::min(few, starts.size()) - 1];
  const std::int64_t max_age = rule.max_age.value_or(CheckRule::usual_age);
  // Whoever allows for more than two days does not measure each night.
  const bool each_night = !rule.max_age || max_age <= 2 * seconds_per_day;
  const std::int64_t from = rule.now.value_or(*unix_seconds(starts.front()));
  for (auto& [name, host] : hosts) {
    const auto newest = unix_seconds(host.newest);
    if (!newest) continue;
    const std::string day = day_of(host.newest);
    std::string reason;
    if (from - *newest > max_age)
      reason =
          fmt::format("last result from {}, older than {} (--max-age)", day, age_text(max_age));
    else if (each_night && *unix_seconds(night) - *newest > seconds_of_night)
      reason = fmt::format("last result from {}, before the last night of the others ({})", day,
                           day_of(night));
    if (reason.empty()) continue;
    host.judged = false;
    std::erase_if(host.findings,
                  [](const Case& one) { return label_of(one, "finding") == finding::low; });
    host.unjudged.push_back({"", reason, "last seen " + date_text(day)});
  }
}

/// A survey that measured nothing, after which the host measured nothing else.
void mark_empty(const std::vector<Rows>& runs, Hosts& hosts) {
  for (const Rows& run : runs) {
    if (!has_results(run.command)) continue;
    for (const std::string& name : run.hosts) {
      Host& host = hosts[name];
      if (run.started < host.newest) continue;
      host.incomplete = run.why_incomplete();
      if (!host.judged) add_once(host.unjudged, Unjudged{"", host.incomplete, "INCOMPLETE"});
    }
  }
}

/// Adds those that no run is of.
void add_open(const std::vector<OpenHost>& open, Hosts& hosts) {
  for (const OpenHost& one : open) {
    auto place = std::ranges::find_if(
        hosts, [&](const auto& host) { return is_same_name(host.first, one.name); });
    if (place == hosts.end()) place = hosts.try_emplace(one.name).first;
    place->second.judged = false;
    place->second.unjudged.push_back({"", one.reason, one.brief});
  }
}

// The report.

/// "triad -18 %, add -11 % since 12 Nov and 3 more"
std::string changes_text(const Host& host, const char* verdict) {
  constexpr std::size_t most = 3;
  std::vector<std::string> texts;
  std::set<std::string> names;
  std::string since;
  for (const Case& one : host.findings) {
    if (label_of(one, "finding") != verdict) continue;
    const std::string name = label_of(one, verdict == finding::below ? "metric" : "case");
    if (!names.insert(name).second) continue;
    texts.push_back(fmt::format("{} {}", name, change_text(change_of(one))));
    const std::string day = label_of(one, "since");
    if (!day.empty() && (since.empty() || day < since)) since = day;
  }
  const std::size_t more = texts.size() > most ? texts.size() - most : 0;
  texts.resize(texts.size() - more);
  return fmt::format("{}{}{}", fmt::join(texts, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "",
                     since.empty() ? "" : " since " + date_text(since));
}

/// "SLOW 2 of 8: n3 (triad -18 %), n4 (add -11 %)", the slowest first; of hosts that have the
/// verdict and none before. "" where there is none. `of`: " of 8".
std::string hosts_text(const Hosts& all, const char* word, const std::string& of,
                       const char* verdict, const char* before) {
  constexpr std::size_t most_detailed = 3, most_named = 20;  // the line is for logs too
  std::vector<const Hosts::value_type*> hosts;
  for (const auto& one : all)
    if (one.second.has(verdict) && !(before != nullptr && one.second.has(before)))
      hosts.push_back(&one);
  if (hosts.empty()) return "";
  std::ranges::stable_sort(hosts, std::greater<>(), [](const auto* host) {
    return std::abs(change_of(host->second.findings.front()));
  });
  std::string text = fmt::format("{} {}{}: ", word, hosts.size(), of);
  for (std::size_t i = 0; i < std::min(hosts.size(), most_named); ++i) {
    text += (i > 0 ? ", " : "") + hosts[i]->first;
    if (i < most_detailed || hosts.size() == most_detailed + 1)
      text += fmt::format(" ({})", changes_text(hosts[i]->second, verdict));
  }
  if (hosts.size() > most_named) text += fmt::format(" and {} more", hosts.size() - most_named);
  return text;
}

/// "3 hosts (n07: no result; n01, n02: last seen 3 Nov; n09)".
std::string unjudged_text(const Hosts& hosts) {
  std::map<std::string, std::vector<std::string>> by_brief;
  std::size_t count = 0;
  for (const auto& [name, host] : hosts) {
    if (host.judged) continue;
    std::string brief;
    for (const Unjudged& one : host.unjudged)
      if (!one.brief.empty()) brief = ": " + one.brief;
    by_brief[brief].push_back(name);
    ++count;
  }
  std::vector<std::string> texts;
  for (const auto& [brief, names] : by_brief) texts.push_back(names_text(names) + brief);
  return count == 0 ? ""
                    : fmt::format("{} ({})", count_text(count, "host"), fmt::join(texts, "; "));
}

std::string answer_of(const Hosts& hosts, const std::optional<TwoGroups>& groups,
                      const Results& results) {
  std::string found;
  const auto add = [&](const char* word, const char* verdict, const char* before,
                       const std::string& common) {
    const std::string of = (found.empty() ? fmt::format(" of {}", hosts.size()) : "") + common;
    const std::string text = hosts_text(hosts, word, of, verdict, before);
    if (!text.empty()) found += (found.empty() ? "" : "; ") + text;
  };
  const auto fell = count_if(hosts, [](const Host& host) { return host.has(finding::fell); });
  add("SLOW", finding::slow, nullptr, groups ? fmt::format(" ({})", to_text(*groups)) : "");
  add("FELL", finding::fell, finding::slow, is_most(fell, hosts.size()) ? " together" : "");
  add("LOW", finding::low, nullptr, "");
  add("BELOW", finding::below, nullptr, "");
  std::vector<std::string> open;
  if (const std::string unjudged = unjudged_text(hosts); !unjudged.empty())
    open.push_back(unjudged);
  for (const auto& [errors, what] :
       {std::pair(&results.broken, "file"), {&results.closed, "folder"}})
    if (!errors->empty()) open.push_back(count_text(errors->size(), what) + " not readable");
  return hosts_answer(found, count_if(hosts, [](const Host& host) { return host.judged; }), open,
                      count_if(hosts, [](const Host& host) { return !host.distrust.empty(); }),
                      count_if(hosts, [](const Host& host) { return !host.incomplete.empty(); }));
}

Case case_of(const std::string& name, const Host& host) {
  Case found;
  found.name = name;
  found.kernel = "";
  found.labels = {{"finding", finding::none}, {"host", name}};
  const auto add = [&](const char* key, auto value, Unit unit = "") {
    found.figures.push_back(plain_figure(key, unit, static_cast<double>(value)));
  };
  add("host_judged", host.judged);
  if (host.judged || !host.findings.empty()) {
    add("host_slow", host.has(finding::slow));
    add("host_fell", host.has(finding::fell));
    add("host_low", host.has(finding::low));
    add("host_below", host.has(finding::below));
  }
  for (const auto& what : against::all) add(what.figure, host.held_against.contains(what.figure));
  add("host_unreliable", !host.distrust.empty());
  add("host_incomplete", !host.incomplete.empty());
  add("host_runs", host.runs);
  add("host_slow_runs", host.slow_runs);
  if (const auto seconds = unix_seconds(host.newest)) add("host_newest_run", *seconds, "s");
  return found;
}

/// A warning for each reason, with its hosts and commands.
void warn_of_unjudged(const Hosts& all, RunReport& report) {
  std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> by_reason;
  for (const auto& [name, host] : all) {
    if (host.judged) continue;
    for (const Unjudged& one : host.unjudged) {
      auto& [hosts, commands] = by_reason[one.reason];
      add_once(hosts, name);
      if (!one.command.empty()) add_once(commands, one.command);
    }
  }
  for (const auto& [reason, of] : by_reason) {
    const auto& [hosts, commands] = of;
    report.warnings.push_back(
        {"not-judged", "",
         fmt::format("not judged: {}: {}{}", names_text(hosts), reason,
                     commands.empty() ? "" : " (numatlas " + names_text(commands) + ")")});
  }
}

/// Hosts whose newest runs are not to be relied on, by the reason.
void warn_of(const Hosts& all, std::string Host::*reason, const char* code, const char* word,
             RunReport& report) {
  std::map<std::string, std::vector<std::string>> hosts;
  for (const auto& [name, host] : all)
    if (!(host.*reason).empty()) hosts[host.*reason].push_back(name);
  for (const auto& [why, names] : hosts)
    report.warnings.push_back(
        {code, "", fmt::format("{} results of {}: {}", word, names_text(names), why)});
}

View normal_view() {
  View normal;
  normal.title = "Is it normal?";
  normal.where = {{"finding", finding::normal}};
  for (const auto& [head, label] : {std::pair("host", "host"),
                                    {"", "verdict"},
                                    {"beside what others published", "evidence"},
                                    {"published by", "remark"}})
    normal.cells.push_back(label_column(head, label));
  return normal;
}

View hosts_view() {
  View hosts;
  hosts.title = "Hosts";
  hosts.where = {{"finding", finding::none}};
  hosts.cells = {label_column("host", "host")};
  for (const auto& [head, key] : {std::pair("judged", "host_judged"),
                                  {"slow", "host_slow"},
                                  {"fell", "host_fell"},
                                  {"low", "host_low"},
                                  {"below", "host_below"},
                                  {"runs compared with others", "host_runs"},
                                  {"slow in", "host_slow_runs"}})
    hosts.cells.push_back(figure_column(head, key, 1, Part::value, 0));
  return hosts;
}

/// But for its notes.
RunReport report_of(Hosts& hosts, const std::optional<TwoGroups>& groups, const Results& results,
                    const CheckRule& rule) {
  RunReport report;
  report.command = "check";
  report.version = version;
  report.complete = true;
  report.comm = "none";
  for (auto& [name, host] : hosts) {
    std::ranges::stable_sort(host.findings, std::greater<>(),
                             [](const auto& one) { return std::abs(change_of(one)); });
    report.started = std::max(report.started, host.newest);
    if (!host.distrust.empty()) report.trust = "unreliable";
    report.cases.insert(report.cases.end(), host.findings.begin(), host.findings.end());
    report.cases.insert(report.cases.end(), host.normal.begin(), host.normal.end());
    report.cases.push_back(case_of(name, host));
  }
  report.answer = answer_of(hosts, groups, results);
  report.views = views_of_findings(report.cases, rule.slow);
  if (std::ranges::any_of(hosts, [](const auto& host) { return !host.second.normal.empty(); }))
    report.views.push_back(normal_view());
  report.views.push_back(hosts_view());
  if (hosts.size() == 1) report.hosts = {hosts.begin()->first};
  warn_of(hosts, &Host::distrust, "unreliable", "UNRELIABLE", report);
  warn_of(hosts, &Host::incomplete, "incomplete", "INCOMPLETE", report);
  warn_of_unjudged(hosts, report);
  for (const std::vector<Error>* errors : {&results.broken, &results.closed})
    for (const Error& error : *errors)
      report.warnings.push_back({"not-read", "", "not judged: " + printable(full_text(error))});
  return report;
}

}  // namespace

Expected<RunReport> check(const Results& results, const CheckRule& rule) {
  std::map<std::pair<std::string, bool>, std::vector<const Rows*>> commands;
  for (const Rows& run : results.runs)
    if (!has_results(run.command))
      commands[{name_in_survey(run), is_null_engine(run.engine)}].push_back(&run);
  Hosts hosts;
  std::vector<const Rows*> newest;
  std::vector<CommandCheck> checks;
  std::optional<TwoGroups> groups;
  for (auto& [command, runs] : commands) {
    std::ranges::stable_sort(runs, {}, &Rows::started);
    CommandCheck& of_command = checks.emplace_back(runs, rule, hosts);
    of_command.judge();
    const auto its = of_command.newest();
    newest.insert(newest.end(), its.begin(), its.end());
    const auto& two = of_command.groups();
    if (two && (!groups || two->apart > groups->apart)) groups = two;
  }
  TRY(judge_expected(rule.expected, newest, hosts));
  if (rule.metric.empty()) judge_normal(results.runs, rule, hosts);
  RunReport notes;  // of hosts that measured
  mark_old(rule, hosts);
  note_hosts(checks, &CommandCheck::old_hosts,
             "results more than a day older than the newest:", notes);
  note_hosts(checks, &CommandCheck::missing_hosts, "no result of", notes);
  mark_empty(results.runs, hosts);
  add_open(results.open, hosts);
  TRY(check_metric(rule.metric, {&results.runs}));
  RunReport report = report_of(hosts, groups, results, rule);
  if (!newest.empty())
    report.engine = (*std::ranges::max_element(newest, {}, &Rows::started))->engine;
  std::ranges::move(notes.warnings, std::back_inserter(report.warnings));
  for (const std::string& note : results.notes) report.warnings.push_back({"note", "", note});
  return report;
}

std::string judged_against_text(const RunReport& report) {
  std::vector<std::string> texts;
  for (const auto& what : against::all) {
    const auto count = std::ranges::count_if(report.cases, [&](const Case& one) {
      const auto is = estimate_of(one, what.figure);
      return is && is->value > 0;
    });
    if (count > 0) texts.push_back(fmt::format("{} ({})", what.words, count_text(count, "host")));
  }
  return texts.empty() ? "" : fmt::format("judged against: {}\n", fmt::join(texts, ", "));
}

}  // namespace numatlas
