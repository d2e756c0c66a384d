#include "compare/hosts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/add_once.h"
#include "base/text.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

/// Parts between commas outside brackets.
std::vector<std::string_view> parts_of(std::string_view line) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '[') ++depth;
    if (i < line.size() && line[i] == ']') --depth;
    if (i < line.size() && (depth > 0 || (line[i] != ',' && line[i] != ' ' && line[i] != '\t')))
      continue;
    if (i > from) parts.push_back(line.substr(from, i - from));
    from = i + 1;
  }
  return parts;
}

constexpr std::size_t most_hosts = 1000000;

/// "01-04" -> 01, 02, 03, 04. False where it is no such thing.
bool add_range(std::string_view text, std::vector<std::string>& numbers) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  const auto is_number = [](std::string_view one) {
    return !one.empty() && one.size() <= 9 &&
           one.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!is_number(low) || !is_number(high)) return false;
  const int first = std::stoi(std::string(low)), last = std::stoi(std::string(high));
  if (last < first || static_cast<std::size_t>(last - first) >= most_hosts) return false;
  for (int number = first; number <= last; ++number)
    numbers.push_back(fmt::format("{:0{}}", number, low.size()));
  return true;
}

/// All names of "rack[1-2]n[01-04]".
bool expand(std::string_view text, std::vector<std::string>& names) {
  std::vector<std::string> all{""};
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    for (std::string& one : all) one += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) return false;
    std::vector<std::string> numbers, longer;
    for (const std::string_view part : parts_of(text.substr(open + 1, close - open - 1)))
      if (!add_range(part, numbers)) return false;
    if (numbers.empty() || all.size() * numbers.size() > most_hosts) return false;
    for (const std::string& one : all)
      for (const std::string& number : numbers) longer.push_back(one + number);
    all = std::move(longer);
    text = text.substr(close + 1);
  }
  names.insert(names.end(), all.begin(), all.end());
  return std::ranges::none_of(
      all, [](const std::string& one) { return one.find_first_of("[]") != std::string::npos; });
}

/// Runs that are no further apart are at the same time: of a fleet that measures one by one.
constexpr std::int64_t hour = 60 * 60;

/// Sets that grow together.
class Sets {
 public:
  explicit Sets(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t one) {
    while (parents_[one] != one) one = parents_[one] = parents_[parents_[one]];
    return one;
  }
  void join(std::size_t a, std::size_t b) { parents_[of(b)] = of(a); }

 private:
  std::vector<std::size_t> parents_;
};

/// A host of a run.
struct Seen {
  Rows* run = nullptr;
  std::size_t host = 0;
  Identity identity;
  std::int64_t start = 0;

  const std::string& name() const { return run->hosts[host]; }
};

bool is_known(const Identity& one) {
  return !one.firmware.empty() || !one.boot.empty() || !one.installation.empty();
}

std::vector<Seen> all_seen(std::vector<Rows>& runs) {
  std::vector<Seen> all;
  for (Rows& run : runs)
    for (std::size_t host = 0; host < run.hosts.size(); ++host)
      all.push_back({&run, host, host < run.identities.size() ? run.identities[host] : Identity{},
                     unix_seconds(run.started).value_or(0)});
  std::ranges::stable_sort(all, {}, &Seen::start);
  return all;
}

/// Installations that several machines have, as those that start from one image do: seen at one
/// time under several names, or with several kernels or boards.
std::set<std::string> copied_installations(const std::vector<Seen>& all) {
  std::map<std::string, const Seen*> last;
  std::set<std::string> copied;
  for (const Seen& one : all) {
    if (one.identity.installation.empty()) continue;
    const Seen*& before = last[one.identity.installation];
    const auto differ = [](const std::string& a, const std::string& b) {
      return !a.empty() && !b.empty() && a != b;
    };
    if (before != nullptr && one.start - before->start < hour &&
        (!is_same_name(one.name(), before->name()) ||
         differ(one.identity.boot, before->identity.boot) ||
         differ(one.identity.firmware, before->identity.firmware)))
      copied.insert(one.identity.installation);
    before = &one;
  }
  return copied;
}

/// One name of one machine, from its first to its last run.
struct Track {
  std::string name;
  std::size_t machine = 0;
  bool known = false;  ///< whether the machine is
  std::string id;      ///< of the machine, as its name shows it
  std::int64_t first = 0, last = 0;
  std::vector<const Seen*> seen;
};

bool at_once(const Track& a, const Track& b) {
  return a.first - b.last < hour && b.first - a.last < hour;
}

std::vector<Track> tracks_of(const std::vector<Seen>& all) {
  const std::set<std::string> copied = copied_installations(all);
  Sets machines(all.size());
  std::map<std::string, std::size_t> first_with;
  const auto join = [&](std::size_t i, const std::string& kind, const std::string& id) {
    if (id.empty()) return;
    const auto [place, is_new] = first_with.try_emplace(kind + id, i);
    if (!is_new) machines.join(place->second, i);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Identity& identity = all[i].identity;
    join(i, "firmware ", identity.firmware);
    join(i, "boot ", identity.boot);
    if (!copied.contains(identity.installation)) join(i, "installation ", identity.installation);
    if (!is_known(identity)) join(i, "name ", all[i].name());
  }
  std::map<std::pair<std::size_t, std::string>, Track> tracks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Seen& one = all[i];
    const std::size_t machine = machines.of(i);
    const auto [place, is_new] = tracks.try_emplace({machine, one.name()});
    Track& track = place->second;
    if (is_new) {
      const Identity& its = one.identity;
      const bool own = !copied.contains(its.installation) && !its.installation.empty();
      const std::string& id = !its.firmware.empty() ? its.firmware
                              : own                 ? its.installation
                                                    : its.boot;
      track = {one.name(), machine, is_known(its), id.substr(0, 6), one.start, one.start, {}};
    }
    track.last = one.start;
    track.seen.push_back(&one);
  }
  std::vector<Track> found;
  for (auto& [key, track] : tracks) found.push_back(std::move(track));
  return found;
}

/// Joins those of `group` unless two of them ran at once. Returns whether it did.
bool join_successors(const std::vector<Track>& tracks, const std::vector<std::size_t>& group,
                     Sets& hosts) {
  for (const std::size_t a : group)
    for (const std::size_t b : group)
      if (a < b && hosts.of(a) != hosts.of(b) && at_once(tracks[a], tracks[b])) return false;
  for (const std::size_t one : group) hosts.join(group.front(), one);
  return group.size() > 1;
}

std::string short_name(const std::string& name) {
  const std::string first = name.substr(0, name.find('.'));
  return is_same_name(first, name) ? first : name;
}

/// Several runs of one command within an hour, by a name that says nothing of the machine.
bool may_be_several(const Track& track) {
  constexpr std::size_t few = 3;
  std::map<std::string, std::vector<std::int64_t>> starts;  // by what was measured
  for (const Seen* one : track.seen)
    if (one->run->hosts.size() == 1 && one->start > 0 && !one->run->rows.empty())
      starts[one->run->rows.front().key].push_back(one->start);
  return std::ranges::any_of(starts, [&](const auto& of_command) {
    const std::vector<std::int64_t>& all = of_command.second;
    for (std::size_t i = few - 1; i < all.size(); ++i)
      if (all[i] - all[i + 1 - few] < hour) return true;
    return false;
  });
}

/// Joins tracks of one name: of one machine, of machines that nothing is known of, and of machines
/// that came one after another.
void join_names(const std::vector<Track>& tracks, Sets& hosts, std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  std::map<std::string, std::set<std::string>> with_domain;  // by short names
  for (const Track& track : tracks)
    if (const std::string name = short_name(track.name); name != track.name)
      with_domain[name].insert(track.name);
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const std::string name = short_name(tracks[i].name);
    by_name[with_domain[name].size() > 1 ? tracks[i].name : name].push_back(i);
  }
  for (const auto& [name, group] : by_name) {
    std::set<std::size_t> machines;
    for (const std::size_t i : group)
      if (tracks[i].known) machines.insert(tracks[i].machine);
    for (const std::size_t a : group)
      for (const std::size_t b : group)
        if (tracks[a].machine == tracks[b].machine || machines.size() < 2) hosts.join(a, b);
    if (!join_successors(tracks, group, hosts) || machines.size() < 2) continue;
    const auto newest =
        std::ranges::max_element(group, {}, [&](std::size_t i) { return tracks[i].first; });
    notes.push_back(fmt::format("{}: another machine, or another installation, since {}", name,
                                day_of(tracks[*newest].seen.front()->run->started)));
  }
}

constexpr const char* several_machines =
    "several results of one command within an hour do not say which machine they are of; measure "
    "again with this version, or give each machine its own name";

}  // namespace

Expected<std::vector<std::string>> parse_hosts(std::string_view text) {
  std::vector<std::string> names;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    line = trim(line.substr(0, line.find('#')));
    for (const std::string_view part : parts_of(line))
      if (!expand(part, names))
        return fail(ErrorKind::usage,
                    fmt::format("line {}: '{}' is no list of hosts", number, printable(part)),
                    "write one name a line, or lists such as n[01-04,07]");
  }
  if (names.empty())
    return fail(ErrorKind::usage, "names no host", "write one name a line, or n[01-04,07]");
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool is_same_name(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a == b) return true;
  // The parts of an address are no names.
  return !a.empty() && b.starts_with(a) && b[a.size()] == '.' &&
         a.find_first_not_of("0123456789.") != std::string_view::npos;
}

NamedHosts name_hosts(std::vector<Rows>& runs) {
  NamedHosts named;
  const std::vector<Seen> all = all_seen(runs);
  const std::vector<Track> tracks = tracks_of(all);
  Sets hosts(tracks.size());
  join_names(tracks, hosts, named.notes);
  std::map<std::size_t, std::vector<std::size_t>> by_machine, by_host;
  for (std::size_t i = 0; i < tracks.size(); ++i) by_machine[tracks[i].machine].push_back(i);
  for (const auto& [machine, group] : by_machine) join_successors(tracks, group, hosts);
  for (std::size_t i = 0; i < tracks.size(); ++i) by_host[hosts.of(i)].push_back(i);
  std::map<std::string, std::size_t> with_name;  // hosts by their newest names
  const auto newest_of = [&](const std::vector<std::size_t>& group) -> const Track& {
    return tracks[*std::ranges::max_element(group, {},
                                            [&](std::size_t i) { return tracks[i].last; })];
  };
  for (const auto& [host, group] : by_host) ++with_name[newest_of(group).name];
  for (const auto& [host, group] : by_host) {
    const Track& newest = newest_of(group);
    const bool shared = with_name.at(newest.name) > 1;
    const std::string label =
        shared ? fmt::format("{} [{}]", newest.name, newest.id.empty() ? "?" : newest.id)
               : newest.name;
    std::vector<std::string> earlier;
    for (const std::size_t i : group) {
      if (tracks[i].name != newest.name) add_once(earlier, tracks[i].name);
      if (!tracks[i].known && may_be_several(tracks[i]))
        named.open.push_back({label, "perhaps several machines", several_machines});
      for (const Seen* one : tracks[i].seen) one->run->hosts[one->host] = label;
    }
    if (!earlier.empty())
      named.notes.push_back(fmt::format("{} is the same host as {}", label, names_text(earlier)));
  }
  for (const auto& [name, count] : with_name)
    if (count > 1)
      named.notes.push_back(fmt::format("{} have the name {}; each is shown with a part of its id",
                                        count_text(count, "machine"), name));
  return named;
}

}  // namespace numatlas
