// Hosts: the list of those that are expected, and which results are of one. A host is more than its
// name, and a machine may have several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/results.h"

namespace numatlas {

/// Names of a text, sorted, each once: one a line, or Slurm's lists, "n[01-04,07],login1"; what
/// follows a # is a comment. Errors are about the line.
Expected<std::vector<std::string>> parse_hosts(std::string_view text);

struct NamedHosts {
  std::vector<std::string> notes;  ///< what is not as the names say
  std::vector<OpenHost> open;      ///< whose results may be of several machines
};

/// Gives all results of one host the same name, and those of others another one, by the identities
/// of their machines:
/// - one machine that was renamed, or that has a new name each night, has the newest one; names
/// that
///   are used at the same time stay (virtual machines and containers of one host);
/// - machines that have a name at the same time get "n1 [3f9a62]"; a machine that came after
///   another keeps the name, with a note;
/// - n1 and n1.cluster.local are one host, unless their machines are known to be two.
/// Results without an identity go by their names.
NamedHosts name_hosts(std::vector<Rows>& runs);

/// Whether the names can be of one host: equal, or with and without the domain.
bool is_same_name(std::string_view a, std::string_view b);

}  // namespace numatlas
