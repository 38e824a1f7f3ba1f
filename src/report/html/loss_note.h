// SPDX-License-Identifier: Apache-2.0
#pragma once
// The caption of a chart of loss curves by worker: whether the curves coincide, and otherwise why
// not. Workers of one group compute the same, from the same weights on the same data.
// Thread safety: pure functions.

#include <span>
#include <string>

#include "report/html/report_data.h"

namespace tench {

// `curves` are cells of one group with at least two losses each. "" for fewer than two curves.
// Curves coincide if they differ by less than is visible, at the steps that they share.
std::string LossNote(std::span<const ReportCell* const> curves);

}  // namespace tench
