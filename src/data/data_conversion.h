// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a whole data set: to check every file of it, or to convert it into another format.
//
// A conversion is atomic and resumable. It writes to OUT.part, whose progress.json has the last
// checkpoint, and renames the complete content to OUT. A second call with the same source
// continues; another source begins again. Used by one thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "data/file_data.h"

namespace tench {

// Called now and then with the samples so far; may be null.
using DataProgress = std::function<void(int64_t done, int64_t total)>;

struct DataCheck {
  int64_t checked = 0;
  std::map<int64_t, int64_t> of_class;      // label → samples
  std::map<std::string, int64_t> of_shape;  // "3x375x500" → samples; "words" for reviews
  std::vector<std::string> broken;          // one line for each broken sample, with its file
};

// Reads and decodes every sample until `stop`.
DataCheck CheckSamples(const SampleSource& source, const DataProgress& progress,
                       const StopToken& stop);

struct ConversionResult {
  int64_t samples = 0;
  int64_t resumed_from = 0;  // samples of an earlier call
  bool complete = false;     // false: stopped
};

// `from` and `to` are FORMAT:PATH; `from` may have the keys resize and channels, which decode the
// images. The first sample that is broken ends the conversion.
Result<ConversionResult> ConvertData(std::string_view from, std::string_view to,
                                     const DataProgress& progress, const StopToken& stop);

}  // namespace tench
