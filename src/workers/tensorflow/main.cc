// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "protocol/command_line.h"
#include "worker/serve.h"
#include "workers/tensorflow/adapter.h"

namespace {

// TensorFlow decides on oneDNN while it is loaded, which `hello` tells of: so this one option is looked up before the
// job is read in earnest. Whatever is wrong with the job is said there.
std::string OneDnnOf(int argc, char** argv, const std::string& fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) != tench::kJobFlag || std::string_view(argv[i + 1]) == "-") continue;
    const auto text = tench::ReadFile(argv[i + 1]);
    if (!text.ok()) return fallback;
    const auto job = tench::ParseJson(*text, "job");
    if (!job.ok() || !job->is_object()) return fallback;
    const auto options = job->find("options");
    if (options == job->end() || !options->is_object()) return fallback;
    const auto choice = options->find("onednn");
    return choice != options->end() && choice->is_string() ? choice->get<std::string>() : fallback;
  }
  return fallback;
}

}  // namespace

int main(int argc, char** argv) {
  tench::tensorflow::TensorFlowSettings settings;
  settings.onednn = OneDnnOf(argc, argv, settings.onednn);
  return tench::Serve(argc, argv, [&] { return tench::tensorflow::MakeTensorFlowAdapter(settings); });
}
