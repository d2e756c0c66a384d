// What hosts of the same kind measured: results of others in a folder.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "record/report.h"

namespace numatlas {

/// Which figure: its key, and where it was measured.
using FigureKey = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;

/// Of one host, the newest of its results.
struct PeerHost {
  std::string host, cpu_model, started;
  std::map<FigureKey, double> figures;
};

struct PeerFigures {
  std::string folder;
  std::vector<PeerHost> hosts;  ///< by name
  std::size_t not_read = 0;     ///< JSON files that are no results
};

/// The figures of a host that can be compared: facts that are times or rates. Of several reports of
/// the same start.
PeerHost peer_host(const std::vector<RunReport>& reports);

/// All results in a folder: FILE.json and FOLDER/survey.json, of any measuring command, survey or
/// audit. Errors name --peers; that none is a result is one.
Expected<PeerFigures> read_peers(const std::string& folder);

}  // namespace numatlas
