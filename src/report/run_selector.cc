// SPDX-License-Identifier: Apache-2.0
#include "report/run_selector.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "record/worker_version.h"

namespace tench {
namespace {

bool Holds(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// "machine=a,b" and "version=…" are not axes; plan parses the rest.
Status AddTerm(const std::string& term, RunSelector& selector, std::vector<std::string>& of_cells) {
  const size_t equals = term.find('=');
  const std::string name(Trim(std::string_view(term).substr(0, equals)));
  if (equals == std::string::npos || (name != kMachineAxis && name != kVersionAxis)) {
    of_cells.push_back(term);
    return Ok();
  }
  for (const std::string& part : Split(term.substr(equals + 1), ',')) {
    const std::string value(Trim(part));
    if (value.empty()) return Failed("'{}' names no {}", Printable(term, 60), name);
    std::vector<std::string>& values = name == kMachineAxis ? selector.machines : selector.versions;
    if (!Holds(values, value)) values.push_back(value);
  }
  return Ok();
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsFile(const std::string& text) {
  std::error_code ignored;
  return text.ends_with(".db") || std::filesystem::is_regular_file(text, ignored);
}

Status SetOnce(std::string& known, const std::string& value, std::string_view what,
               std::string_view text) {
  if (!known.empty() && known != value)
    return Failed("'{}' names two {}", Printable(text, 60), what);
  known = value;
  return Ok();
}

// All restrictions by name, with sorted values.
std::map<std::string, std::vector<std::string>> Restrictions(const RunSelector& selector) {
  std::map<std::string, std::vector<std::string>> restrictions(selector.cells.terms.begin(),
                                                               selector.cells.terms.end());
  if (!selector.machines.empty()) restrictions[kMachineAxis] = selector.machines;
  if (!selector.versions.empty()) restrictions[kVersionAxis] = selector.versions;
  for (auto& [name, values] : restrictions) std::sort(values.begin(), values.end());
  return restrictions;
}

}  // namespace

bool RunSelector::Matches(const RunRecord& run) const {
  return (machines.empty() || Holds(machines, run.machine) || Holds(machines, run.machine_id)) &&
         (versions.empty() || Holds(versions, run.worker_version) ||
          Holds(versions, ShownVersion(run.worker_version, run.build))) &&
         cells.Matches(run.cell);
}

Result<RunSelector> ParseSelector(std::span<const std::string> texts) {
  RunSelector selector;
  std::vector<std::string> of_cells;
  for (const std::string& text : texts) {
    for (const std::string& term : Split(text, ';')) TENCH_TRY(AddTerm(term, selector, of_cells));
  }
  selector.cells = TENCH_TRY(ParseFilter(of_cells));
  return selector;
}

Result<Selection> ParseSelection(std::string_view text) {
  Selection selection;
  selection.text = text;
  std::string database;
  std::vector<std::string> terms;
  for (const std::string& part : Split(text, ';')) {
    const std::string piece(Trim(part));
    if (piece.empty()) return Failed("'{}' names nothing between two ';'", Printable(text, 60));
    if (piece.starts_with("study=")) {
      TENCH_TRY(SetOnce(selection.study, piece.substr(6), "studies", text));
    } else if (piece.starts_with("db=")) {
      TENCH_TRY(SetOnce(database, piece.substr(3), "files", text));
    } else if (IsNumber(piece) || piece == "latest" || piece == "previous") {
      TENCH_TRY(SetOnce(selection.study, piece, "studies", text));
    } else if (IsFile(piece)) {
      TENCH_TRY(SetOnce(database, piece, "files", text));
    } else {
      terms.push_back(piece.find('=') == std::string::npos ? "worker=" + piece : piece);
    }
  }
  if (!selection.study.empty() && !IsNumber(selection.study) && selection.study != "latest" &&
      selection.study != "previous" && selection.study != "all")
    return Failed("'{}': a study is a number, latest, previous or all", Printable(text, 60));
  if (!database.empty()) selection.database = database;
  selection.runs = TENCH_TRY(ParseSelector(terms).In(fmt::format("'{}'", Printable(text, 60))));
  return selection;
}

std::set<std::string> ComparedAxes(const Selection& a, const Selection& b) {
  const auto of_a = Restrictions(a.runs), of_b = Restrictions(b.runs);
  std::set<std::string> axes;
  for (const auto* both : {&of_a, &of_b}) {
    const auto& other = both == &of_a ? of_b : of_a;
    for (const auto& [name, values] : *both) {
      const auto found = other.find(name);
      if (found == other.end() || found->second != values) axes.insert(name);
    }
  }
  if (a.study != b.study || a.database != b.database) axes.insert(kVersionAxis);
  if (a.database != b.database) axes.insert(kMachineAxis);
  return axes;
}

}  // namespace tench
