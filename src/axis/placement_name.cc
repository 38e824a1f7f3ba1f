// SPDX-License-Identifier: Apache-2.0
#include "axis/placement_name.h"

#include "base/text.h"

namespace tench {
namespace {

constexpr std::string_view kNodePrefix = "node:";
constexpr int64_t kMostNodes = 1024;

}  // namespace

Result<PlacementName> ParsePlacement(std::string_view text) {
  using Kind = PlacementName::Kind;
  if (text == "first") return PlacementName{Kind::kFirst};
  if (text == "spread") return PlacementName{Kind::kSpread};
  if (text == "compact") return PlacementName{Kind::kCompact};
  if (text.starts_with(kNodePrefix)) {
    const Result<int64_t> node = ParseInteger(text.substr(kNodePrefix.size()));
    if (node.ok() && *node >= 0 && *node < kMostNodes)
      return PlacementName{Kind::kNode, static_cast<int>(*node)};
  }
  return Failed("'{}' is not {}", Printable(text, 60), kPlacementForms);
}

std::string ToString(const PlacementName& placement) {
  switch (placement.kind) {
    case PlacementName::Kind::kFirst:
      return "first";
    case PlacementName::Kind::kSpread:
      return "spread";
    case PlacementName::Kind::kCompact:
      return "compact";
    case PlacementName::Kind::kNode:
      break;
  }
  return fmt::format("{}{}", kNodePrefix, placement.node);
}

}  // namespace tench
