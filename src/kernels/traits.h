// What each kernel is, whatever it is told. All other code decides by these traits: none compares
// names.
#pragma once

#include <cstddef>
#include <string_view>

namespace numatlas {

/// What a kernel's step is.
enum class StepKind {
  chase,      ///< dependent loads along a chain: its time is a latency
  lines,      ///< lines that are read, written or both: bytes over time are a bandwidth
  ping_pong,  ///< a line passed to another CPU and back
  answer,     ///< a look at that line by the other CPU
  addition,   ///< an atomic addition that succeeded
  fault,      ///< pages that come into being
  migration,  ///< pages that are moved to another node
};

struct KernelTraits {
  StepKind step = StepKind::lines;
  bool on_gpu = false;            ///< a GPU runs it (src/gpu)
  bool reads = true;              ///< false: only writes
  bool writes = true;             ///< it has stores, of which there may be several kinds
  bool in_place = false;          ///< writes the lines that it reads
  bool takes_source = false;      ///< may read from a region apart from the one it writes
  bool retries = false;           ///< repeats an addition when another CPU came in between
  std::string_view answers = {};  ///< name of the kernel of the other side
  bool in_files = true;  ///< files of scenarios have words for all that it needs (not of GPUs)
  std::string_view time = {};  ///< key of the figure that the time of a step is; "" of bandwidths

  bool chases() const { return step == StepKind::chase; }
  bool chases_on_cpu() const { return chases() && !on_gpu; }
  bool chases_on_gpu() const { return chases() && on_gpu; }
  bool copies_on_gpu() const { return step == StepKind::lines && on_gpu && takes_source; }
  bool streams_on_gpu() const { return step == StepKind::lines && on_gpu && !takes_source; }
  bool streams() const { return step == StepKind::lines && !on_gpu; }
  bool is_ping_pong() const { return step == StepKind::ping_pong || step == StepKind::answer; }
};

/// Of a kernel by its name; of any other name, such as that of several kernels together
/// ("read+write") or of a mix with its ratio: those of lines that are read and written.
const KernelTraits& traits_of(std::string_view name);

/// What a step moves, in bytes: as STREAM counts it, and with the lines that regular stores fetch
/// before they write (write-allocate).
struct Traffic {
  std::size_t read = 0, written = 0, allocated = 0;
  std::size_t counted() const { return read + written; }
  std::size_t with_allocate() const { return read + written + allocated; }
};

struct KernelKind;  // kernels/kind.h

}  // namespace numatlas
