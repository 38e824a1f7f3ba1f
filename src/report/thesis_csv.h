// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the two CSV families of the 2017 study, for each machine and worker:
//   loss_{machine}_{worker}.csv    #network,mode,batch,step,loss,time
//   times_{machine}_{worker}.csv   #network,mode,batch,avg_time
//
// Format:
//  - Every line, including the header, ends with CRLF. Lines are ordered by network, mode, batch,
//    step.
//  - `mode` is CPU or GPU, `batch` has at least three digits (016), `step` counts from 0.
//  - `time` is one iteration in seconds, `avg_time` the arithmetic mean of a cell's times; both
//    have nine decimal places (exact nanoseconds).
//  - `loss` has nine decimal places, or is nan, inf or -inf.
//  - In file names all but letters, digits, '.', '-' and '_' becomes '-'; in the network column a
//    comma becomes '_'.
//
// Only timed steps of train-phase cells are written, without warm-up. The newest ok run stands
// for its cell, because the format has no rounds. Where cells differ in an axis that the format
// lacks (threads, precision, options, …), the cell with the newest ok run is written, and a note
// counts the others.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace tench {

struct ThesisExport {
  std::vector<std::filesystem::path> files;  // written, each atomically
  std::vector<std::string> notes;            // information lost by the format
};

// Creates the folder if its parent exists. Having no run to export is an error.
Result<ThesisExport> ExportThesis(Store& store, std::optional<int64_t> study,
                                  const std::filesystem::path& folder);

// The same runs as logs of `tench train`, which are in Caffe's format:
// train_{network}_{mode}_{batch, 3 digits}.log, which `tench import --caffe-log` reads. With
// several machines or workers each pair has its own folder, {machine}_{worker}.
Result<ThesisExport> ExportLogs(Store& store, std::optional<int64_t> study,
                                const std::filesystem::path& folder);

}  // namespace tench
