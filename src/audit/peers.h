// What hosts of the same kind measured: results of others in a folder.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "record/fleet.h"
#include "record/report.h"

namespace numatlas {

/// Which figure: its key, and where it was measured.
using FigureKey = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;

/// Of one host, the newest of each of its figures.
struct PeerHost {
  std::string host, started;
  HostKind kind;  ///< without processes and workers
  std::map<FigureKey, double> figures;
};

struct PeerFigures {
  std::string folder;
  std::vector<PeerHost> hosts;        ///< by name
  std::vector<std::string> not_read;  ///< JSON files that are no results of one host
};

/// The figures of a host that can be compared: facts that are times or rates. Of several reports of
/// the same start.
PeerHost peer_host(const std::vector<RunReport>& reports);

/// All results (*.json) below a folder, of any measuring command, survey or audit. Errors name
/// --peers; that none is a result is one.
Expected<PeerFigures> read_peers(const std::string& folder);

}  // namespace numatlas
