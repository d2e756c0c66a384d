#include "report/rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "record/labels.h"
#include "report/filled.h"

namespace numatlas {
namespace {

std::string label_in_text(const RunReport& report, const Case& one, const std::string& name) {
  if (const std::size_t bar = name.find('|'); bar != std::string::npos) {
    const std::string value = label_in_text(report, one, name.substr(0, bar));
    const std::string word = name.substr(bar + 1);
    return word == "place" ? place_words(value) : count_text(std::atoi(value.c_str()), word);
  }
  if (name == "isa") return report.isa;
  if (name == "size") return to_text(one.size);
  const auto own = std::ranges::find(one.labels, name, &std::pair<std::string, std::string>::first);
  if (own != one.labels.end()) return own->second;
  const std::string text = has_label(report, name) ? label_text(report, one, name) : "";
  return text == "-" ? "" : text;
}

/// "256 MiB", or "64 MiB to 256 MiB" where nodes have room for less.
std::string sizes_text(const CaseGroup& group) {
  const auto [least, most] =
      std::ranges::minmax(group.cases, {}, [](const Case* one) { return one->size; });
  const std::string text = to_text(least->size);
  return least->size == most->size ? text : text + " to " + to_text(most->size);
}

std::string text_of(const std::string& words, const RunReport& report, const Case& one) {
  return filled(words, [&](const std::string& name) { return label_in_text(report, one, name); });
}

/// In all that they were measured with but for one of the benchmark's labels.
bool are_alike(const Case& one, const Case& other, const std::string& but) {
  const auto others = [&](const Case& its) {
    auto labels = its.labels;
    std::erase_if(labels, [&](const auto& label) { return label.first == but; });
    return labels;
  };
  return one.kernel == other.kernel && one.stores == other.stores && one.size == other.size &&
         one.pages == other.pages && others(one) == others(other);
}

/// The case that a group's texts are about: not one that belongs to other groups as well.
const Case& told_of(const RunReport& report, const CaseGroup& group) {
  const auto is_own = [&](const Case* one) {
    return std::ranges::all_of(group.labels, [&](const auto& label) {
      return label_text(report, *one, label.first) == label.second;
    });
  };
  const auto is_measured = [&](const auto* one) { return is_own(one) && !one->flows.empty(); };
  auto found = std::ranges::find_if(group.cases, is_measured);
  if (found == group.cases.end()) found = std::ranges::find_if(group.cases, is_own);
  return found == group.cases.end() ? *group.cases.front() : **found;
}

void add_legend(View& view, const Legend& legend, const RunReport& report, const CaseGroup& group) {
  std::set<std::string> values;
  for (const Case* one : group.cases)
    if (!one->flows.empty()) values.insert(label_text(report, *one, legend.label));
  if (values.size() != 1) view.cells.push_back(label_column("", legend.label));
  for (const std::string& value : values) {
    auto words =
        std::ranges::find(legend.words, value, &std::pair<std::string, std::string>::first);
    if (words == legend.words.end()) --words;
    view.notes.push_back(values.size() == 1
                             ? fmt::format(fmt::runtime(legend.one), words->second)
                             : fmt::format(fmt::runtime(legend.each), value, words->second));
  }
}

View view_of(const Table& table, const RunReport& report, const CaseGroup& group) {
  View view;
  view.kind = table.kind;
  view.level = table.level;
  view.where = group.labels;
  view.rows = table.rows;
  view.columns = table.columns;
  const Case* const told = group.cases.empty() ? nullptr : &told_of(report, group);
  const auto text = [&](const std::string& words) {
    if (told == nullptr) return words;
    return filled(words, [&](const std::string& name) {
      return name == "sizes" ? sizes_text(group) : label_in_text(report, *told, name);
    });
  };
  view.title = text(table.title);
  for (const std::string& note : table.notes) view.notes.push_back(text(note));
  std::erase(view.notes, "");
  const bool several =
      std::ranges::any_of(group.cases, [](const Case* one) { return one->flows.size() > 1; });
  const bool in_turn = report.serial && several && !table.cells_in_turn.empty();
  view.cells = in_turn ? table.cells_in_turn : table.cells;
  if (in_turn) view.notes.push_back("workers ran one after the other: the median of them");
  for (const Legend& legend : table.legends) add_legend(view, legend, report, group);
  table.finish(view, group, report);
  return view;
}

/// Whether a case has the label of an `only`, and its value, or a figure.
bool has(const std::string& only, const RunReport& report, const Case& one) {
  if (only.front() == '!') return !has(only.substr(1), report, one);
  const std::size_t end = std::min(only.find('='), only.size());
  const std::string value = label_in_text(report, one, only.substr(0, end));
  return end == only.size() ? !value.empty() || figure_of({&one}, only) != nullptr
                            : value == only.substr(end + 1);
}
bool has_all(const std::vector<std::string>& only, const RunReport& report, const Case& one) {
  return std::ranges::all_of(only, [&](const std::string& each) { return has(each, report, one); });
}

/// One table for each; of matrices with several sizes one for each size only where a cell would
/// have several.
std::vector<CaseGroup> groups_for(const Table& table, const RunReport& report) {
  const auto is_shown = [&](const CaseGroup& group) {
    return group.cases.empty() ? table.only.empty()
                               : has_all(table.only, report, told_of(report, group));
  };
  const auto shown_of = [&](const std::vector<std::string>& labels) {
    std::vector<CaseGroup> groups = groups_of(report, labels);
    std::erase_if(groups, [&](const CaseGroup& group) { return !is_shown(group); });
    return groups;
  };
  std::vector<CaseGroup> groups = shown_of(table.apart);
  if (table.kind != ViewKind::matrix) return groups;
  for (const CaseGroup& group : groups) {
    std::set<std::pair<std::string, std::string>> cells;
    for (const Case* one : group.cases) {
      const auto cell =
          std::pair(label_text(report, *one, table.rows), label_text(report, *one, table.columns));
      if (cells.insert(cell).second) continue;
      std::vector<std::string> labels = table.apart;
      labels.emplace_back("size");
      return shown_of(labels);
    }
  }
  return groups;
}

bool is_better(double value, double than, const Figure* figure) {
  const bool lower = figure != nullptr && figure->unit.better() == Better::lower;
  return lower ? value < than : value > than;
}

/// The cases that a rule can make facts of: the best of those alike in `labels`; none: each.
std::vector<const Case*> cases_of(const FactRule& rule, const RunReport& report,
                                  const std::vector<std::string>& labels) {
  std::vector<const Case*> cases;
  for (const CaseGroup& group : groups_of(report, labels)) {
    const Case* best = nullptr;
    for (const Case* one : group.cases) {
      const auto its = host_estimate_of(*one, rule.figure);
      if (!its || !cache_text(*one).empty() || !has_all(rule.only, report, *one)) continue;
      if (labels.empty()) cases.push_back(one);
      if (best == nullptr || is_better(its->value, host_estimate_of(*best, rule.figure)->value,
                                       figure_of({one}, rule.figure)))
        best = one;
    }
    if (best != nullptr && !labels.empty()) cases.push_back(best);
  }
  return cases;
}

void add_facts(const FactRule& rule, const RunReport& report, std::vector<Fact>& all) {
  const auto cases = cases_of(rule, report, rule.best_of);
  std::vector<const Case*> best;
  if (!rule.best_shown.empty()) best = cases_of(rule, report, rule.best_shown);
  const auto value = [&](const Case* one) { return host_estimate_of(*one, rule.figure)->value; };
  const Case *low = nullptr, *high = nullptr;
  if (rule.extremes && !cases.empty()) {
    high = *std::ranges::max_element(cases, {}, value);
    const auto is_comparable = [&](const Case* one) {
      return std::ranges::all_of(rule.comparable, [&](const std::string& label) {
        return label_in_text(report, *one, label) == label_in_text(report, *high, label);
      });
    };
    for (const Case* one : cases)
      if (is_comparable(one) && (low == nullptr || value(one) < value(low))) low = one;
  }
  const auto is_shown = [&](const Case* one) {
    if (rule.extremes) return one == low || one == high;
    return rule.best_shown.empty() || std::ranges::count(best, one) > 0;
  };
  for (const Case* one : cases) {
    const Figure* const figure = figure_of({one}, rule.figure);
    Fact& fact = all.emplace_back(Fact{rule.key.empty() ? rule.figure : rule.key,
                                       {},
                                       text_of(rule.words, report, *one),
                                       figure == nullptr ? Unit() : figure->unit,
                                       *host_estimate_of(*one, rule.figure)});
    for (const std::string& label : rule.where) {
      const std::string name = label.substr(label.find('=') + 1);  // all, where there is none
      fact.where.emplace_back(
          label.substr(0, label.find('=')),
          name == "size" ? std::to_string(one->size.value) : label_in_text(report, *one, name));
    }
    if (!is_shown(one)) continue;
    fact.heading = text_of(rule.heading, report, *one);
    fact.line = (low == high  ? ""
                 : one == low ? "lowest "
                              : "highest ") +
                text_of(rule.line, report, *one);
  }
}

Estimate compared(const Estimate& one, const Estimate& other, Against::As as) {
  if (as == Against::As::other) return other;
  if (as == Against::As::times) return ratio_of(one, other);
  return as == Against::As::more ? difference_of(one, other) : difference_of(other, one);
}

Unit unit_of(const Against& rule, const Figure& figure) {
  return rule.as == Against::As::times ? Unit("1") : figure.unit;
}

/// Of the medians of cases.
void add_against_cases(const Against& rule, RunReport& report) {
  const auto text = [&](const Case& one, const std::string& label) {
    return label_text(report, one, label);
  };
  if (report.cases.empty()) return;
  const std::string value =
      rule.value.empty() ? text(report.cases.front(), rule.label) : rule.value;
  const bool times = rule.as == Against::As::times;
  for (Case& one : report.cases) {
    const auto with = std::ranges::find_if(report.cases, [&](const Case& other) {
      return text(other, rule.label) == value && estimate_of(other, rule.figure) &&
             std::ranges::all_of(rule.alike, [&](const std::string& label) {
               return text(other, label) == text(one, label);
             });
    });
    const auto its = estimate_of(one, rule.figure);
    if (!its || with == report.cases.end() || (&*with == &one && !times)) continue;
    const Estimate than =
        &*with == &one ? Estimate(1) : compared(*its, *estimate_of(*with, rule.figure), rule.as);
    const Unit unit = unit_of(rule, *figure_of({&one}, rule.figure));
    one.figures.push_back({rule.key, unit, than, std::nullopt});
  }
}

}  // namespace

std::string place_words(const std::string& memory) {
  if (memory.starts_with("gpu:")) return "GPU " + memory.substr(4);
  return memory.starts_with("bind:") ? "node " + memory.substr(5) : memory;
}

std::vector<Figure> scaled_figures(const std::vector<Scaled>& rules, const Case& visit) {
  std::vector<Figure> figures;
  for (const Scaled& rule : rules) {
    const Figure* const of = find_total(visit, rule.of);
    if (of == nullptr || !of->estimate) continue;
    figures.push_back({rule.key, of->unit, scaled(*of->estimate, rule.factor), std::nullopt});
  }
  return figures;
}

const Case* find_alike(const RunReport& report, const Case& one, const std::string& label,
                       const std::string& value) {
  const auto alike = [&](const Case& other) {
    return label_of(other, label) == value && are_alike(other, one, label);
  };
  const auto found = std::ranges::find_if(report.cases, alike);
  return found == report.cases.end() ? nullptr : &*found;
}

const FlowResult* find_against(const Against& rule, const RunReport& report, const Case& one,
                               const FlowResult& flow) {
  for (const Case& other : report.cases) {
    if (label_of(other, rule.label) != rule.value || !are_alike(other, one, rule.label)) continue;
    for (const FlowResult& its : other.flows) {
      const Figure* const figure = find_figure(its, rule.figure);
      if (its.worker == flow.worker && figure != nullptr && figure->estimate) return &its;
    }
  }
  return nullptr;
}

void add_against(const std::vector<Against>& rules, RunReport& report) {
  for (const Against& rule : rules) {
    if (!rule.alike.empty()) {
      add_against_cases(rule, report);
      continue;
    }
    for (Case& one : report.cases) {
      if (label_of(one, rule.label) == rule.value) continue;
      for (FlowResult& flow : one.flows) {
        const Figure* const figure = find_figure(flow, rule.figure);
        const FlowResult* const with = find_against(rule, report, one, flow);
        if (figure == nullptr || !figure->estimate || with == nullptr) continue;
        const Estimate than =
            compared(*figure->estimate, *find_figure(*with, rule.figure)->estimate, rule.as);
        flow.figures.push_back({rule.key, unit_of(rule, *figure), than, std::nullopt});
      }
    }
  }
}

std::vector<View> views_of(const std::vector<Table>& tables, const RunReport& report) {
  std::vector<View> views;
  bool shown = false;
  for (const Table& table : tables) {
    if ((table.instead && shown) ||
        (!table.if_several.empty() && groups_of(report, table.if_several).size() < 2))
      continue;
    const std::size_t before = views.size();
    for (const CaseGroup& group : groups_for(table, report)) {
      if (table.first && views.size() > before) break;
      views.push_back(view_of(table, report, group));
    }
    shown = views.size() > before;
  }
  return views;
}

std::vector<Fact> facts_of(const std::vector<FactRule>& rules, const RunReport& report) {
  std::vector<Fact> facts;
  for (const FactRule& rule : rules) add_facts(rule, report, facts);
  return facts;
}

}  // namespace numatlas
