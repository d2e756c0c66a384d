// Which rank stands on which host. A host here is a shared-memory group: ranks in two containers
// of one machine that do not share memory are two hosts, even if both say the same name.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace numatlas {

struct HostLayout {
  std::vector<std::string> hosts;  ///< names, in the order of their lowest ranks; unique
  std::vector<int> host_of;        ///< by rank: index into hosts
  std::vector<int> local_rank_of;  ///< by rank: place among the ranks of its host

  /// Lowest rank of a host; -1 for a host that does not exist.
  int leader_of(int host) const;
  /// Number of ranks of a host.
  int ranks_on(int host) const;

  friend bool operator==(const HostLayout&, const HostLayout&) = default;
};

/// What one rank knows of its host.
struct HostClaim {
  std::string name;  ///< host name
  int group = 0;     ///< lowest global rank of its shared-memory group
};

/// Layout of all ranks from their claims, by rank. Of several groups with one name the first keeps
/// it and the others become "name#2", "name#3".
HostLayout make_host_layout(std::span<const HostClaim> claims);

// The name of this host.

/// As gethostname says it; "localhost" if that fails.
std::string host_name();

}  // namespace numatlas
