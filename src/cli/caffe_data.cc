// SPDX-License-Identifier: Apache-2.0
#include "cli/caffe_data.h"

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "data/data_reference.h"
#include "data/data_set.h"
#include "data/file_data.h"
#include "net/caffe/solver_file.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

Result<std::string> ExistingFile(const CaffeDataFiles& files, const std::string& named,
                                 const std::string& near) {
  const std::filesystem::path path = ResolveCaffePath(named, near);
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Failed(
        "{}: it does not exist (data layer '{}'); --data names other data, and --images N trains "
        "on N synthetic samples",
        named, Printable(files.layer));
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return Failed("{}: {}", path.string(), error.message());
  return absolute.string();
}

}  // namespace

Result<Shape> SampleOfData(const std::string& text) {
  const FileData data = TENCH_TRY(FileData::Open(text));
  const InputSpec spec = TENCH_TRY(data.SpecFor(InputSpec{}));
  if (data.facts().encoded && data.reference().transform.resize_height == 0 &&
      data.reference().transform.crop == 0)
    return Shape();
  if (spec.channels < 1 || spec.height < 1 || spec.width < 1) return Shape();
  return Shape{spec.channels, spec.height, spec.width};
}

Result<CaffeDataText> OpenCaffeData(const CaffeDataFiles& files, const std::string& near) {
  CaffeDataText data;
  data.text = files.format + ":" + TENCH_TRY(ExistingFile(files, files.source, near));
  if (!files.mean_file.empty())
    data.text += ",mean_file=" + TENCH_TRY(ExistingFile(files, files.mean_file, near));
  for (const std::string& key : files.keys) data.text += "," + key;
  data.sample = TENCH_TRY(SampleOfData(data.text));
  return data;
}

Result<CaffeJob> OpenCaffeJob(const std::string& path, const CaffeState& state,
                              const std::string& data, bool synthetic, const std::string& near) {
  CaffeJob job;
  CaffeDataText own;
  std::vector<std::string> notes;
  if (!data.empty()) {
    own = {TENCH_TRY(AbsoluteDataReference(data)), TENCH_TRY(SampleOfData(data))};
  } else if (!synthetic) {
    const std::string text = TENCH_TRY(ReadFile(path, kMostTextBytes));
    const std::optional<CaffeDataFiles> files = TENCH_TRY(FindDataFiles(text, path, state));
    if (files) {
      own = TENCH_TRY(OpenCaffeData(*files, near).In(path));
      notes = files->notes;
    }
  }
  job.network = TENCH_TRY(ReadPrototxtFile(path, state, own.sample));
  job.data = own.text;
  job.network.notes.insert(job.network.notes.end(), notes.begin(), notes.end());
  if (!job.data.empty()) TENCH_TRY(CheckData(job.network.graph, job.data));
  return job;
}

}  // namespace tench
