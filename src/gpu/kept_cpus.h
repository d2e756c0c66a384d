// Internal: the calling thread's CPUs, put back at the end of a scope.
#pragma once

#include "placement/policy.h"

namespace numatlas {

/// Drivers bind who asks them to a GPU's node; workers stay where the placement put them.
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
