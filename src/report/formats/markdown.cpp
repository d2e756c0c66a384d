// Tables for issue trackers and web pages: those of `table`, as GitHub's Markdown.
#include "report/reporter.h"
#include "report/tables.h"

namespace numatlas {

Reporter markdown_reporter() {
  return {"markdown", [](const RunReport& report, const TextStyle& style) {
            TextStyle markdown = style;
            markdown.markdown = true;
            markdown.color = false;
            return tables_text(report, markdown);
          }};
}

}  // namespace numatlas
