#include "run/twins.h"

#include <algorithm>

#include "engine/sharing.h"

namespace numatlas {
namespace {

/// Who it is, whatever its number among the workers of a benchmark.
bool same_worker(const Worker& a, const Worker& b) {
  return a.rank == b.rank && a.host == b.host && a.placement.cpus == b.placement.cpus &&
         a.placement.cpu == b.placement.cpu;
}

/// As it counts for the work: local memory is that of the node of the CPUs that touch it.
Region plain(Region region, NodeId local) {
  const bool here = region.placement.mode == MemoryMode::local && local.value >= 0;
  if (here) region.placement = {MemoryMode::bind, {{local, 1}}};
  region.local_node = {};
  return region;
}

/// The worker of `to` that is worker `number` of `from`.
int number_of(const SessionPart& to, const SessionPart& from, int number) {
  const Worker& who = from.setup().layout.workers[static_cast<std::size_t>(number)];
  const auto& workers = to.setup().layout.workers;
  const auto found = std::find_if(workers.begin(), workers.end(),
                                  [&](const Worker& worker) { return same_worker(worker, who); });
  return static_cast<int>(found - workers.begin());
}

/// A visit to a point of `from` as one of `to`.
Visited moved(Visited visited, const Twins::Member& to, const Twins::Member& from) {
  const auto& planned = to.part->setup().plan[to.part->point(to.point).first].scenario.flows;
  for (FlowResult& flow : visited.outcome.flows) {
    flow.worker = number_of(*to.part, *from.part, flow.worker);
    if (flow.first_touch) flow.first_touch = number_of(*to.part, *from.part, *flow.first_touch);
    const auto same = std::find_if(planned.begin(), planned.end(),
                                   [&](const Flow& other) { return other.worker == flow.worker; });
    if (same != planned.end()) flow.memory = same->region.placement.text();
  }
  return visited;
}

}  // namespace

int Twins::common_number(const Worker& worker) {
  const auto found = std::find_if(workers_.begin(), workers_.end(),
                                  [&](const Worker& other) { return same_worker(worker, other); });
  const auto number = static_cast<int>(found - workers_.begin());
  if (found == workers_.end()) workers_.push_back(worker);
  return number;
}

/// Nothing for points that do more than run flows of CPUs for a while.
std::optional<std::vector<Flow>> Twins::work_of(const SessionPart& part, std::size_t index) {
  const PointRun& point = part.points()[index];
  if (point.count != 1 || point.skipped || point.once) return std::nullopt;
  const Setup& setup = part.setup();
  const Scenario& scenario = setup.plan[point.first].scenario;
  if (scenario.stop.passes || scenario.flows.empty()) return std::nullopt;
  std::vector<Flow> work = scenario.flows;
  for (Flow& flow : work) {
    if (on_gpu(flow.kernel)) return std::nullopt;
    const auto number = [&](int worker) {
      return common_number(setup.layout.workers[static_cast<std::size_t>(worker)]);
    };
    const auto toucher = static_cast<std::size_t>(toucher_of(flow));
    const NodeId local = setup.layout.workers[toucher].placement.cpu_node;
    flow.worker = number(flow.worker);
    if (flow.first_touch) flow.first_touch = number(*flow.first_touch);
    // Another one at each visit.
    flow.kernel.seed = 0;
    flow.region = plain(flow.region, local);
    if (flow.source) flow.source = plain(*flow.source, local);
  }
  return work;
}

void Twins::add(SessionPart& part, std::size_t first) {
  for (std::size_t i = first; i < part.points().size(); ++i) {
    const Member mine{&part, i};
    auto work = work_of(part, i);
    if (!work) continue;
    const std::tuple kind{work->size(), work->front().region.bytes.value,
                          name_of(work->front().kernel)};
    const auto [begin, end] = alike_.equal_range(kind);
    const auto twin = std::find_if(begin, end, [&](const auto& one) {
      const Group& group = groups_[one.second];
      return group.work == *work && group.members.back().part != &part;
    });
    if (twin == end) {
      alike_.emplace(kind, groups_.size());
      group_of_[{&part, i}] = groups_.size();
      groups_.push_back({*std::move(work), {mine}, {}});
      continue;
    }
    Group& group = groups_[twin->second];
    group_of_[{&part, i}] = twin->second;
    group.members.push_back(mine);
  }
}

bool Twins::take_earlier(const Member& mine) {
  const auto found = group_of_.find({mine.part, mine.point});
  if (found == group_of_.end()) return false;
  const Group& group = groups_[found->second];
  for (const auto& [from, visited] : group.visits)
    mine.part->take(mine.part->point(mine.point), moved(visited, mine, from), true);
  return !group.visits.empty();
}

std::vector<Twins::Member> Twins::take(const Member& visited, bool keep) {
  const auto found = group_of_.find({visited.part, visited.point});
  const std::optional<Visited>& visit = visited.part->last_visit();
  if (found == group_of_.end() || !visit) return {};
  Group& group = groups_[found->second];
  if (keep) group.visits.emplace_back(visited, *visit);
  std::vector<Member> taken;
  for (const Member& member : group.members) {
    PointRun& point = member.part->point(member.point);
    if (member.part == visited.part || point.ended) continue;
    member.part->take(point, moved(*visit, member, visited), true);
    taken.push_back(member);
  }
  return taken;
}

void Twins::forget_visits() {
  for (Group& group : groups_) group.visits.clear();
}

}  // namespace numatlas
