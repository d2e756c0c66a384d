// The fields of a machine's identity, in snapshots and in the record.
#pragma once

#include "base/fields.h"
#include "machine/machine.h"

namespace numatlas {

void list_fields(auto& f, fields::Of<Identity> auto& i) {
  f("installation", i.installation, "hash of the machine-id; copies of an image have the same");
  f("firmware", i.firmware, "hash of the board's UUID, which only root may read");
  f("boot", i.boot, "hash of the kernel's boot_id: the same until it is started again");
  f("product", i.product, "vendor and product by the firmware");
  f.later("provider", i.provider, "cloud that the firmware names: aws, azure, gcp, ...");
}

}  // namespace numatlas
