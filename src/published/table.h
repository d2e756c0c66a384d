// The tables of data/*.csv: what others measured, on machines of clouds, GPUs and processors.
// data/README.md says what the columns mean. All have one form and this reader.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "record/unit.h"

namespace numatlas {

/// What one machine, GPU or processor gave: a figure, or the lowest and the highest of several.
struct PublishedFigure {
  std::string key;  ///< of its column without the unit: "read"
  Unit unit;
  double low = 0, high = 0;
  double middle() const { return (low + high) / 2; }
};

struct PublishedRow {
  int line = 0;
  std::string provider, machine;  ///< "aws", "m5.large"
  std::string processor;          ///< as processor_name() gives it
  std::string gpu;                ///< as its driver names it
  std::string program;            ///< that measured the reads: "sc-membench"
  std::string conditions, source, date;
  std::optional<int> cpus, threads_per_core, cache_mib;    ///< cache: last-level, of all CPUs
  std::optional<int> sockets, cores, channels, mts;        ///< cores, channels: of a socket
  std::optional<int> link_generation, link_width;          ///< of the GPU's PCIe link
  std::optional<int> gpu_link_generation, gpu_link_width;  ///< the most that the GPU can do
  bool is_virtual = false;
  std::vector<PublishedFigure> figures;

  const PublishedFigure* figure(std::string_view key) const;  ///< nullptr where it has none
};

struct PublishedTable {
  std::string file, name, source, date, licence;  ///< by its head
  std::vector<PublishedRow> rows;
};

/// Errors (usage) name the place: "cloud.csv:12: cpus: ...".
Expected<PublishedTable> parse_published(std::string_view text, const std::string& file);

/// The files of data/ as they were when the program was built, read once. A test reads them: they
/// have no error.
const std::vector<PublishedTable>& shipped_tables();

}  // namespace numatlas
