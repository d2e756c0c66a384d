#include "published/table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <functional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "published/shipped.h"

namespace numatlas {
namespace {

// No figure of a machine is outside these: what is has a wrong unit.
constexpr double least_gb_s = 0.1, most_gb_s = 50000, least_ns = 0.5, most_ns = 50000;
constexpr int most_number = 65536;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Cells may stand in quotes, which `""` is one of inside. False: a quote is not closed.
bool split_cells(std::string_view line, std::vector<std::string>& cells) {
  cells.assign(1, "");
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells)
    if (const std::string_view kept = trim(cell); kept.size() < cell.size())
      cell = std::string(kept);
  return !quoted;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc{} && stop == end && std::isfinite(value) ? std::optional(value)
                                                                    : std::nullopt;
}

/// What the cells of a column are. `put` says what is wrong with a cell, "" if nothing is.
struct Column {
  std::string name;
  std::function<std::string(PublishedRow&, const std::string&)> put;
};

Column text_column(const char* name, std::string PublishedRow::*member) {
  return {name, [member](PublishedRow& row, const std::string& cell) {
            row.*member = cell;
            const bool is_plain =
                std::ranges::all_of(cell, [](char c) { return c >= ' ' && c <= '~'; });
            return is_plain || cell == printable(cell) ? ""
                                                       : "has characters that cannot be printed";
          }};
}

Column number_column(const char* name, std::optional<int> PublishedRow::*member) {
  return {name, [member](PublishedRow& row, const std::string& cell) -> std::string {
            row.*member = whole_number<int>(cell);
            if (row.*member && *(row.*member) >= 1 && *(row.*member) <= most_number) return "";
            return fmt::format("expected a whole number from 1 to {}", most_number);
          }};
}

/// How a column of figures ends, and what that means.
struct Ending {
  std::string_view text;
  Unit unit;
  double scale, least, most;
};

/// "read_gb_s", "latency_ns": "read" in bytes a second, "latency" in seconds.
Column figure_column_of(const std::string& name) {
  static const std::array<Ending, 2> endings{
      {{"_gb_s", "B/s", 1e9, least_gb_s, most_gb_s}, {"_ns", "s", 1e-9, least_ns, most_ns}}};
  const Ending its = name.ends_with(endings[0].text) ? endings[0] : endings[1];
  const std::string key = name.substr(0, name.size() - its.text.size());
  return Column{name, [its, key](PublishedRow& row, const std::string& cell) -> std::string {
                  constexpr std::string_view between = " to ";
                  const std::string_view text = cell;
                  const std::size_t at = text.find(between);
                  const auto low = number(text.substr(0, at));
                  const auto high =
                      at == std::string_view::npos ? low : number(text.substr(at + between.size()));
                  if (!low || !high || *low < its.least || *high > its.most || *low > *high)
                    return fmt::format(
                        "expected a number from {:g} to {:g}, or the lowest and the highest as "
                        "'31 to 36'",
                        its.least, its.most);
                  row.figures.push_back({key, its.unit, *low * its.scale, *high * its.scale});
                  return "";
                }};
}

std::string put_virtual(PublishedRow& row, const std::string& cell) {
  row.is_virtual = cell == "yes";
  return row.is_virtual ? "" : "expected 'yes' or nothing";
}

/// Figures that are judged, by their columns.
constexpr std::array<std::string_view, 9> figure_columns{
    "read_gb_s", "latency_ns", "nearest_ns",  "farthest_ns",  "h2d_gb_s",
    "d2h_gb_s",  "both_gb_s",  "gpu_load_ns", "gpu_copy_gb_s"};

bool is_month(const std::string& text) {
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  return text.size() == 7 && text.starts_with("20") && digit(2) && digit(3) && text[4] == '-' &&
         digit(5) && digit(6) && text.substr(5) >= "01" && text.substr(5) <= "12";
}

std::optional<Column> column_named(const std::string& name) {
  using Row = PublishedRow;
  static const std::array columns{text_column("provider", &Row::provider),
                                  text_column("machine", &Row::machine),
                                  text_column("processor", &Row::processor),
                                  text_column("gpu", &Row::gpu),
                                  text_column("program", &Row::program),
                                  text_column("conditions", &Row::conditions),
                                  text_column("source", &Row::source),
                                  text_column("date", &Row::date),
                                  number_column("cpus", &Row::cpus),
                                  number_column("threads_per_core", &Row::threads_per_core),
                                  number_column("cache_mib", &Row::cache_mib),
                                  number_column("sockets", &Row::sockets),
                                  number_column("cores", &Row::cores),
                                  number_column("channels", &Row::channels),
                                  number_column("mts", &Row::mts),
                                  number_column("link_generation", &Row::link_generation),
                                  number_column("link_width", &Row::link_width),
                                  number_column("gpu_link_generation", &Row::gpu_link_generation),
                                  number_column("gpu_link_width", &Row::gpu_link_width),
                                  Column{"virtual", put_virtual}};
  const auto found = std::ranges::find(columns, name, &Column::name);
  if (found != columns.end()) return *found;
  if (std::ranges::find(figure_columns, name) == figure_columns.end()) return std::nullopt;
  return figure_column_of(name);
}

/// What is wrong with a row as a whole; "" if nothing is.
std::string problem_of(const PublishedRow& row) {
  if (row.processor.empty() == row.gpu.empty()) return "expected either a processor or a gpu";
  if (row.figures.empty()) return "has no figure";
  if (!row.date.empty() && !is_month(row.date)) return "date: is not a month such as 2026-02";
  if (!row.source.empty() && !row.source.starts_with("https://"))
    return "source: is no address that starts with https://";
  return "";
}

}  // namespace

const PublishedFigure* PublishedRow::figure(std::string_view key) const {
  const auto found = std::ranges::find(figures, key, &PublishedFigure::key);
  return found == figures.end() ? nullptr : &*found;
}

Expected<PublishedTable> parse_published(std::string_view text, const std::string& file) {
  PublishedTable table;
  table.file = file;
  table.rows.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')));
  // Spreadsheets begin a file with the mark of UTF-8.
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  int line = 0;
  const auto wrong = [&](const std::string& what) {
    return fail_usage(fmt::format("{}:{}", file, line), printable(what),
                      "data/README.md of numatlas describes the form");
  };
  const std::array<std::pair<std::string_view, std::string*>, 4> head{
      {{"# name: ", &table.name},
       {"# source: ", &table.source},
       {"# date: ", &table.date},
       {"# licence: ", &table.licence}}};
  std::vector<Column> columns;
  std::vector<std::string> cells;
  while (!text.empty()) {
    const std::string_view words = next_line(text);
    ++line;
    if (words.starts_with('#')) {
      for (const auto& [key, value] : head)
        if (words.starts_with(key)) *value = printable(trim(words.substr(key.size())));
      continue;
    }
    if (trim(words).empty()) continue;
    if (!split_cells(words, cells)) return wrong("a quote is not closed");
    if (columns.empty()) {
      for (const auto& [key, value] : head)
        if (value->empty())
          return wrong(fmt::format("its head has no {}", key.substr(2, key.size() - 4)));
      if (!is_month(table.date)) return wrong("date: is not a month such as 2026-02");
      for (const std::string& cell : cells) {
        const auto column = column_named(cell);
        if (!column) return wrong(fmt::format("unknown column '{}'", cell));
        if (std::ranges::find(columns, cell, &Column::name) != columns.end())
          return wrong(fmt::format("two columns '{}'", cell));
        columns.push_back(*column);
      }
      continue;
    }
    if (cells.size() != columns.size())
      return wrong(fmt::format("has {}, and the table has {}", count_text(cells.size(), "cell"),
                               count_text(columns.size(), "column")));
    PublishedRow& row = table.rows.emplace_back();
    row.line = line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      const std::string problem = columns[i].put(row, cells[i]);
      if (!problem.empty()) return wrong(columns[i].name + ": " + problem);
    }
    if (const std::string problem = problem_of(row); !problem.empty()) return wrong(problem);
  }
  ++line;
  if (table.rows.empty()) return wrong("has no rows");
  return table;
}

const std::vector<PublishedTable>& shipped_tables() {
  static const std::vector<PublishedTable> all = [] {
    std::vector<PublishedTable> tables;
    for (const ShippedTable& one : shipped_texts())
      tables.push_back(parse_published(one.text, one.file).value());
    return tables;
  }();
  return all;
}

}  // namespace numatlas
