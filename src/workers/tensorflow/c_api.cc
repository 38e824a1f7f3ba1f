// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/c_api.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "worker/library_file.h"

namespace tench::tensorflow {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFix =
    "run deps/fetch --workers tensorflow, or set TENCH_TENSORFLOW_ROOT to the folder of the "
    "package 'tensorflow', 2.12 to 2.21";

// A wheel's site-packages, the package itself, and the archive of the C library alone.
constexpr std::array<std::string_view, 5> kPlaces = {
    "tensorflow/libtensorflow_cc.so.2", "libtensorflow_cc.so.2", "lib/libtensorflow_cc.so.2",
    "lib/libtensorflow.so.2", "libtensorflow.so.2"};

std::string Valued(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

}  // namespace

fs::path TensorFlowRoot(const std::map<std::string, std::string>& environment) {
  const std::string root = Valued(environment, "TENCH_TENSORFLOW_ROOT");
  if (!root.empty()) return root;
  const std::string version = Valued(environment, "TENCH_WORKER_VERSION");
  std::error_code error;
  const fs::path fetched =
      fs::weakly_canonical(ExecutableFolder().parent_path() / "lib" / "tench", error);
  if (!version.empty() && fs::exists(fetched / ("tensorflow@" + version), error))
    return fetched / ("tensorflow@" + version);
  return fetched / "tensorflow";
}

Result<CApi> OpenTensorFlow(const fs::path& root) {
  std::error_code error;
  const auto place = std::ranges::find_if(
      kPlaces, [&](std::string_view each) { return fs::exists(root / each, error); });
  if (place == kPlaces.end())
    return Unsupported("{} is missing ({})", (root / kPlaces[0]).string(), kFix);
  const fs::path file = root / *place;
  // dlopen also loads the wheel's second library, from the same folder.
  const fs::path framework = file.parent_path() / "libtensorflow_framework.so.2";
  if (fs::exists(framework, error)) {
    if (const Status checked = CheckLibraryFile(framework); !checked)
      return Unsupported("{} ({})", checked.error().message, kFix);
  }
  CApi api{TENCH_TRY(SymbolTable::Open(file, RTLD_LAZY | RTLD_LOCAL, kFix))};
  TENCH_TRY(api.symbols.Complete(fmt::format("this is no TensorFlow 2.12 to 2.21 ({})", kFix)));
  return api;
}

}  // namespace tench::tensorflow
