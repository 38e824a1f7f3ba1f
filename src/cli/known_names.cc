// SPDX-License-Identifier: Apache-2.0
#include "cli/known_names.h"

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "data/data_reference.h"
#include "data/data_set.h"
#include "net/zoo/zoo.h"
#include "plan/suite_path.h"
#include "run/session/isa_limit.h"

namespace tench {
Catalog KnownNames(const WorkerCatalog& workers, const NetworkReaders& readers) {
  Catalog names;
  names.workers = workers.names();
  for (const ZooEntry& entry : Zoo()) names.networks.push_back(entry.name);
  for (const DataSet& set : DataSets()) names.data_sets.push_back(set.name);
  names.check_file = [readers](const std::string& path) -> Status {
    // Its shape may follow from the data, which is checked with the cell.
    for (const auto& [ending, read] : readers) {
      if (path.ends_with(ending) && read(path, kAnyImage).ok()) return Ok();
    }
    TENCH_TRY(LoadNetwork(path, "", 0, readers));
    return Ok();
  };
  names.resolve_data = [readers](const std::string& network,
                                 const std::string& data) -> Result<std::string> {
    std::string resolved = TENCH_TRY(ResolveData(network, data));
    if (!IsDataReference(resolved)) {
      if (IsNetworkPath(network)) TENCH_TRY(LoadNetwork(network, resolved, 0, readers));
      return resolved;
    }
    const Graph graph = TENCH_TRY(LoadNetwork(network, resolved, 0, readers));
    TENCH_TRY(CheckData(graph, resolved));
    return resolved;
  };
  names.resolve_test_data = [readers](const std::string& network, const std::string& data,
                                      const std::string& test_data) -> Result<std::string> {
    const Graph graph = TENCH_TRY(LoadNetwork(network, data, 0, readers));
    std::string resolved = TENCH_TRY(ResolveData(network, test_data));
    TENCH_TRY(CheckTestData(graph, data, resolved));
    return resolved;
  };
  names.check_isa = [](const std::string& isa) {
    return isa == kWidestIsa ? Ok() : CheckIsa(isa, ReadCpu());
  };
  return names;
}

NetworkReaders FileReaders(const CaffeState& state, const Shape& given,
                           std::vector<std::string>* notes) {
  const auto read_prototxt = [state, given, notes](const std::string& path,
                                                   const Shape& sample) -> Result<Graph> {
    CaffeNetwork network =
        TENCH_TRY(ReadPrototxtFile(path, state, sample.empty() ? given : sample));
    if (notes != nullptr) *notes = std::move(network.notes);
    return std::move(network.graph);
  };
  return {{".prototxt", read_prototxt}};
}

std::vector<std::filesystem::path> SuiteFolders() {
  std::vector<std::filesystem::path> folders;
  if (const char* path = std::getenv("TENCH_SUITE_PATH")) {
    for (const std::string& folder : Split(path, ':')) folders.emplace_back(folder);
  }
  folders.emplace_back("suites");
  folders.push_back(ExecutableFolder().parent_path() / "share" / "tench" / "suites");
  return folders;
}

std::vector<std::filesystem::path> SketchFolders() {
  std::vector<std::filesystem::path> folders;
  if (const char* path = std::getenv("TENCH_SKETCH_PATH")) {
    for (const std::string& folder : Split(path, ':')) folders.emplace_back(folder);
  }
  folders.push_back(ExecutableFolder().parent_path() / "share" / "tench" / "sketches");
  return folders;
}

}  // namespace tench
