// Internal: the calling thread's CPUs, put back at the end of a scope.
#pragma once

#include "placement/policy.h"

namespace numatlas {

/// For threads that are bound elsewhere for a while: drivers bind who asks them to a GPU's node,
/// and the calling thread is a worker while an engine runs.
class KeptCpus {
 public:
  KeptCpus() : before_(thread_affinity()) {}
  KeptCpus(const KeptCpus&) = delete;
  KeptCpus& operator=(const KeptCpus&) = delete;
  ~KeptCpus() {
    if (!before_.empty() && !(thread_affinity() == before_)) (void)bind_thread(before_);
  }

 private:
  CpuSet before_;
};

}  // namespace numatlas
