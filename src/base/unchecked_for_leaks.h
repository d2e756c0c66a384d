// For libraries that never free what they had.
#pragma once

#ifdef NUMATLAS_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace numatlas {

/// LeakSanitizer does not look at what this thread allocates within the scope.
class UncheckedForLeaks {
 public:
  UncheckedForLeaks() {
#ifdef NUMATLAS_ADDRESS_SANITIZER
    __lsan_disable();
#endif
  }
  ~UncheckedForLeaks() {
#ifdef NUMATLAS_ADDRESS_SANITIZER
    __lsan_enable();
#endif
  }
  UncheckedForLeaks(const UncheckedForLeaks&) = delete;
  UncheckedForLeaks& operator=(const UncheckedForLeaks&) = delete;
};

}  // namespace numatlas
