// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "plan/matrix.h"

namespace tench {
namespace {

using Term = std::pair<std::string, std::vector<std::string>>;

bool Holds(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// "axis=value", or only "value" to add a value to the preceding axis.
Status AddPiece(std::string_view piece, std::string_view text, CellFilter& filter,
                std::string& axis) {
  const size_t equals = piece.find('=');
  if (equals != std::string_view::npos) axis = Trim(piece.substr(0, equals));
  if (axis.empty())
    return Failed("'{}' does not begin with an axis name, as in batch=16,32", Printable(text, 60));
  std::string value(Trim(equals == std::string_view::npos ? piece : piece.substr(equals + 1)));
  Cell scratch;
  TENCH_TRY(scratch.Set(axis, value));
  if (const Result<size_t> index = FindAxis(axis); index.ok())
    value = Axes()[*index].Print(scratch.values[*index]);
  auto term = std::find_if(filter.terms.begin(), filter.terms.end(),
                           [&](const Term& t) { return t.first == axis; });
  if (term == filter.terms.end()) term = filter.terms.insert(term, {axis, {}});
  if (!Holds(term->second, value)) term->second.push_back(std::move(value));
  return Ok();
}

}  // namespace

bool CellFilter::Matches(const Cell& cell) const {
  return std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
    const auto& [name, values] = term;
    if (const std::optional<std::string> key = SettingKey(name)) {
      const auto found = cell.options.find(*key);
      return found != cell.options.end() && Holds(values, found->second);
    }
    const Result<size_t> index = FindAxis(name);
    if (!index.ok()) return false;
    const std::string value = Axes()[*index].Print(cell.values[*index]);
    // A worker without a version matches all of its versions.
    return Holds(values, value) ||
           (*index == kAxisWorker && Holds(values, value.substr(0, value.find('@'))));
  });
}

Result<CellFilter> ParseFilter(std::span<const std::string> texts) {
  CellFilter filter;
  for (const std::string& text : texts) {
    for (const std::string& part : Split(text, ';')) {
      std::string axis;
      for (const std::string& piece : Split(part, ','))
        TENCH_TRY(AddPiece(piece, text, filter, axis));
    }
  }
  return filter;
}

}  // namespace tench
