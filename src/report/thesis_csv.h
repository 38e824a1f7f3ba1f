// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two CSV families of the 2017 study, so that its scripts read our results: for each machine
// and worker
//   loss_{machine}_{worker}.csv    #network,mode,batch,step,loss,time
//   times_{machine}_{worker}.csv   #network,mode,batch,avg_time
// Every line, the header too, ends with CRLF. Lines are in the order of network, mode, batch and
// step. `mode` is CPU or GPU, `batch` has at least three digits (016), `step` counts from 0. `time`
// is one iteration in seconds and `avg_time` the arithmetic mean of a cell's times, both plain
// decimals with nine places (exact nanoseconds); `loss` has nine places too, or is nan, inf or
// -inf.
//
// Only train-phase cells, and only their timed steps: warm-up steps are in neither file. Of several
// rounds the newest ok run stands for its cell; the format has no place for more. Where cells
// differ in something that the format cannot say (threads, precision, options, …), the one with the
// newest ok run is written and a note names how many were left out. In file names all but letters,
// digits, '.', '-' and '_' becomes '-', in the network column a comma becomes '_'.

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
  std::vector<std::string> notes;            // what could not be said in the format
};

// Makes the folder if only its last part is missing. No run to export is an error.
Result<ThesisExport> ExportThesis(Store& store, std::optional<int64_t> study,
                                  const std::filesystem::path& folder);

}  // namespace tench
