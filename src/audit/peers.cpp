#include "audit/peers.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "base/read_file.h"
#include "base/text.h"
#include "fleet/fleet.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* peers_option = "--peers";
constexpr const char* peers_hint =
    "name a folder with results of other hosts: JSON of numatlas audit or survey";

/// nullopt for what is no result.
std::optional<std::vector<RunReport>> reports_in(const std::string& path) {
  const auto content = read_file(path, path, "");
  if (!content) return std::nullopt;
  const auto document = parse_json(*content);
  if (!document) return std::nullopt;
  std::vector<RunReport> reports;
  const json& value = **document;
  const auto add = [&](const json& one) {
    auto report = report_from_json(one);
    if (report) reports.push_back(*std::move(report));
  };
  const auto results = value.is_object() ? value.find("results") : value.end();
  if (results != value.end() && results->is_array())
    for (const json& one : *results) add(one);
  else
    add(value);
  if (reports.empty()) return std::nullopt;
  return reports;
}

/// All *.json below it, sorted; folders that may not be read are passed over.
std::vector<std::string> files_in(const fs::path& folder, std::error_code& code) {
  std::vector<std::string> files;
  fs::directory_iterator(folder, code);
  if (code) return files;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, skip, code), end; !code && at != end;
       at.increment(code)) {
    std::error_code ignored;
    if (at->path().extension() == ".json" && at->is_regular_file(ignored))
      files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

PeerHost peer_host(const std::vector<RunReport>& reports) {
  PeerHost host;
  for (const RunReport& report : reports) {
    if (report.hosts.size() != 1 || report.machines.empty()) continue;
    host.host = report.hosts.front();
    host.kind = kind_of(report.machines.front(), 0, 0);
    host.started = std::max(host.started, report.started);
    for (const Fact& fact : report.facts) {
      const bool comparable = fact.unit == "s" || fact.unit == "B/s";
      if (comparable && fact.estimate.value > 0)
        host.figures.emplace(FigureKey{fact.key, fact.where}, fact.estimate.value);
    }
  }
  return host;
}

Expected<PeerFigures> read_peers(const std::string& folder) {
  std::error_code code;
  const auto files = files_in(folder, code);
  if (code)
    return fail_about(file_error_kind(code.value()), peers_option,
                      fmt::format("{}: {}", printable(folder), code.message()), peers_hint);
  PeerFigures peers;
  peers.folder = printable(folder);
  std::map<std::string, PeerHost> newest;
  for (const std::string& file : files) {
    const auto reports = reports_in(file);
    PeerHost host = reports ? peer_host(*reports) : PeerHost{};
    if (host.host.empty()) {
      peers.not_read.push_back(printable(file));
      continue;
    }
    PeerHost& kept = newest[host.host];
    // The newest of each figure: a folder may have one file for each command.
    if (kept.started <= host.started) std::swap(kept, host);
    if (!host.figures.empty() && alike(kept.kind, host.kind)) kept.figures.merge(host.figures);
  }
  for (auto& [name, host] : newest) peers.hosts.push_back(std::move(host));
  if (peers.hosts.empty())
    return fail_usage(peers_option, fmt::format("{} has no result of one host", peers.folder),
                      peers_hint);
  return peers;
}

}  // namespace numatlas
