// SPDX-License-Identifier: Apache-2.0
#include "plan/axis_override.h"

#include <algorithm>

#include "axis/cell.h"
#include "base/text.h"

namespace tench {
namespace {

Status AddValue(const std::string& text, std::vector<AxisList>& lists) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return Failed("'{}' is not of the form AXIS=VALUE", Printable(text, 60));
  const std::string name = text.substr(0, equals);
  Cell cell;
  TENCH_TRY(cell.Set(name, text.substr(equals + 1)));
  std::string value;
  if (const std::optional<std::string> key = SettingKey(name)) {
    value = cell.options.at(*key);
  } else {
    const size_t axis = TENCH_TRY(FindAxis(name));
    value = Axes()[axis].Print(cell.values[axis]);
  }
  auto list = std::ranges::find(lists, name, &AxisList::name);
  if (list == lists.end()) list = lists.insert(lists.end(), AxisList{name, {}, {}});
  if (std::ranges::find(list->values, value) == list->values.end()) list->values.push_back(value);
  return Ok();
}

// Axes are sorted in their own order, settings last.
size_t Position(const AxisList& list) {
  const Result<size_t> axis = FindAxis(list.name);
  return axis.ok() ? *axis : Axes().size();
}

}  // namespace

Status OverrideAxes(std::span<const std::string> texts, Suite& suite) {
  std::vector<AxisList> lists;
  for (const std::string& text : texts) TENCH_TRY(AddValue(text, lists));
  for (Block& block : suite.blocks) {
    for (AxisList list : lists) {
      list.places.assign(list.values.size(), block.place);
      for (AxisPattern& pattern : block.include) {
        const auto own = std::ranges::find(pattern.axes, list.name, &AxisList::name);
        if (own != pattern.axes.end()) *own = list;
      }
      const auto own = std::ranges::find(block.axes, list.name, &AxisList::name);
      if (own != block.axes.end())
        *own = std::move(list);
      else
        block.axes.push_back(std::move(list));
    }
    std::ranges::stable_sort(block.axes, {}, Position);
  }
  return Ok();
}

}  // namespace tench
