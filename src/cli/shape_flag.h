// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flag --shape CxHxW: the shape of a sample, for a network file that leaves it to its data.

#include <string>

#include "base/error.h"
#include "cli/command.h"
#include "net/tensor.h"

namespace tench {

// `text` must outlive the parsing.
CLI::Option* AddShapeFlag(CLI::App& app, std::string& text);
// "1x28x28"; {} for "".
Result<Shape> ParseShapeFlag(const std::string& text);

}  // namespace tench
