// What stands above the tables, in one line: for logs, health checks and a scheduler's reason.
#include <algorithm>
#include <string>

#include "report/answer.h"
#include "report/reporter.h"

namespace numatlas {

Reporter line_reporter() {
  return {"line", [](const RunReport& report, const TextStyle&) {
            std::string line = answer_text(report);
            if (line.empty()) line = "nothing was measured\n";
            std::replace(line.begin(), line.end() - 1, '\n', ' ');
            return line;
          }};
}

}  // namespace numatlas
