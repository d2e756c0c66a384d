#include "report/reporter.h"
#include "report/tables.h"

namespace numatlas {

Reporter table_reporter() { return {"table", tables_text}; }

}  // namespace numatlas
