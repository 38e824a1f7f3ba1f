// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell: one point of the matrix. A value per axis, and the options of its worker.
// Its id is stable: a hash over "axis=value" of every axis that is not at its default and every
// "option.NAME=VALUE", so that an axis added later never orphans old results. A plain value.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "axis/axis.h"
#include "base/error.h"
#include "record/phase.h"

namespace tench {

// The prefix of an option's name in suites, filters and labels.
inline constexpr std::string_view kOptionPrefix = "option.";

struct Cell {
  std::vector<AxisValue> values;               // one per row of Axes(), starts at the defaults
  std::map<std::string, std::string> options;  // of the worker, without the "option." prefix

  Cell();

  const std::string& Text(AxisIndex axis) const;
  int64_t Integer(AxisIndex axis) const;
  double Real(AxisIndex axis) const;
  Phase phase() const;

  // Takes an axis name or "option.NAME".
  Status Set(std::string_view name, std::string_view text);

  // "worker=reference network=lenet batch=64": axes that are not at their default, then options.
  std::string Label() const;
  // 16 hex digits of the hash of Label().
  std::string Id() const;
  // The same as flags of `tench run`: "--worker reference --network lenet --batch 64 --option
  // layout=nchw".
  std::string Flags() const;

  bool operator==(const Cell&) const = default;
};

}  // namespace tench
