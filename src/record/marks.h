// What is marked in the pictures of views: sizes of caches, what the memory can carry, the latency
// when idle and the highest load; and on curves under load the latency at 80 % of the peak and the
// knee.
#pragma once

#include <vector>

#include "record/drawn.h"
#include "record/report.h"
#include "record/view.h"

namespace numatlas {

/// `alike`: the views that share the picture, this one among them.
void add_marks(Drawn& drawn, const RunReport& report, const View& view,
               const std::vector<const View*>& alike);

}  // namespace numatlas
