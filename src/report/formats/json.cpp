#include "record/report_json.h"
#include "report/reporter.h"

namespace numatlas {

Reporter json_reporter() {
  return {"json", [](const RunReport& report, const TextStyle&) { return json_text(report); }};
}

}  // namespace numatlas
