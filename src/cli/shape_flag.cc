// SPDX-License-Identifier: Apache-2.0
#include "cli/shape_flag.h"

#include "base/text.h"

namespace tench {
namespace {

constexpr int64_t kMaxSide = 65'536;

}  // namespace

CLI::Option* AddShapeFlag(CLI::App& app, std::string& text) {
  return app
      .add_option("--shape", text,
                  "shape CxHxW of a sample, for a prototxt that leaves it to its data")
      ->type_name("");
}

Result<Shape> ParseShapeFlag(const std::string& text) {
  Shape shape;
  if (text.empty()) return shape;
  for (const std::string& part : Split(text, 'x')) {
    const Result<int64_t> side = ParseInteger(part);
    if (!side.ok() || *side < 1 || *side > kMaxSide)
      return Failed("--shape: '{}' is not CxHxW, such as 1x28x28", Printable(text, 60));
    shape.push_back(*side);
  }
  if (shape.size() != 3)
    return Failed("--shape: '{}' is not CxHxW, such as 1x28x28", Printable(text, 60));
  return shape;
}

}  // namespace tench
