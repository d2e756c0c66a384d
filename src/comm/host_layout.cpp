#include "comm/host_layout.h"

#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <map>
#include "base/text.h"

namespace numatlas {

int HostLayout::leader_of(int host) const {
  const auto found = std::find(host_of.begin(), host_of.end(), host);
  return found == host_of.end() ? -1 : static_cast<int>(found - host_of.begin());
}

int HostLayout::ranks_on(int host) const {
  return static_cast<int>(std::count(host_of.begin(), host_of.end(), host));
}

HostLayout make_host_layout(std::span<const HostClaim> claims) {
  HostLayout layout;
  std::map<int, int> host_of_group;
  std::map<std::string, int> times_named;
  std::vector<int> ranks_so_far;
  for (const HostClaim& claim : claims) {
    const auto [entry, is_new] =
        host_of_group.try_emplace(claim.group, static_cast<int>(layout.hosts.size()));
    if (is_new) {
      const int times = ++times_named[claim.name];
      layout.hosts.push_back(times == 1 ? claim.name : claim.name + "#" + std::to_string(times));
      ranks_so_far.push_back(0);
    }
    layout.host_of.push_back(entry->second);
    layout.local_rank_of.push_back(ranks_so_far[static_cast<std::size_t>(entry->second)]++);
  }
  return layout;
}

std::string host_name() {
  char name[256] = "";  // Linux: at most 64 characters
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return printable(name);
}

}  // namespace numatlas
