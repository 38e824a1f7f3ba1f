// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/workshop.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/text.h"
#include "workers/caffe/hdf5_file.h"

namespace tench::caffe_worker {
namespace {

int64_t BatchBytes(std::span<const HostTensor> inputs) {
  int64_t bytes = 0;
  for (const HostTensor& input : inputs)
    bytes += ElementCount(input.type.shape) * static_cast<int64_t>(sizeof(float));
  return bytes;
}

std::string Print(const SolverText& text) {
  std::string out = fmt::format(
      "net: \"{}\"\ntype: \"{}\"\nsolver_mode: CPU\nlr_policy: \"fixed\"\nbase_lr: {}\nmomentum: "
      "{}\nweight_decay: {}\n"
      "regularization_type: \"{}\"\nrandom_seed: {}\nmax_iter: {}\ndisplay: {}\n",
      kNetFile, text.solver.type == SolverType::kNesterov ? "Nesterov" : "SGD", text.solver.lr,
      text.solver.momentum, text.solver.weight_decay,
      text.solver.regularization == Regularization::kL1 ? "L1" : "L2",
      text.seed & std::numeric_limits<int64_t>::max(), text.iterations, text.display);
  if (text.solver.clip_gradients > 0)
    out += fmt::format("clip_gradients: {}\n", text.solver.clip_gradients);
  out += text.snapshot.empty()
             ? "snapshot_after_train: false\nsnapshot_prefix: \"unused\"\n"
             : fmt::format("snapshot_after_train: true\nsnapshot_prefix: \"{}\"\n", text.snapshot);
  return out;
}

}  // namespace

Result<Workshop> Workshop::Open(std::filesystem::path binary, int64_t threads) {
  return Workshop(std::move(binary), threads, TENCH_TRY(TemporaryFolder::Make("tench-caffe-")));
}

Result<NetText> Workshop::PutNet(const TypedGraph& graph, const NetForm& form) const {
  NetText net = TENCH_TRY(WriteNet(graph, kDataList, form));
  TENCH_TRY(PutText(kNetFile, net.text));
  return net;
}

Status Workshop::PutSolver(const SolverText& solver) const {
  return PutText(kSolverFile, Print(solver));
}

Status Workshop::PutBatch(std::span<const HostTensor> inputs) const {
  Check(!inputs.empty() && !inputs[0].type.shape.empty(), "a batch without inputs");
  TENCH_TRY(WriteBatch(Path("batch.h5"), inputs, inputs[0].type.shape[0]));
  return PutText(kDataList, "batch.h5\n");
}

Status Workshop::PutCycle(int64_t samples, const BatchOf& batch) const {
  std::string list;
  int64_t left = samples;
  for (int64_t step = 0; left > 0; ++step) {
    const std::span<const HostTensor> inputs = batch(step);
    const int64_t rows = std::min(left, inputs[0].type.shape[0]);
    if (step == 0) {
      std::error_code error;
      const double needed = static_cast<double>(BatchBytes(inputs)) /
                            static_cast<double>(inputs[0].type.shape[0]) *
                            static_cast<double>(samples);
      const auto room = std::filesystem::space(folder_.path(), error);
      if (!error && needed > 0.8 * static_cast<double>(room.available)) {
        return Unsupported(
            "Caffe reads its data from files: {} samples need {} in {}, which has {}; use a "
            "smaller --images",
            samples, HumanBytes(static_cast<int64_t>(needed)),
            folder_.path().parent_path().string(),
            HumanBytes(static_cast<int64_t>(room.available)));
      }
    }
    const std::string name = fmt::format("batch{}.h5", step);
    TENCH_TRY(WriteBatch(Path(name), inputs, rows));
    list += name + "\n";
    left -= rows;
  }
  return PutText(kDataList, list);
}

Result<CaffeProcess> Workshop::Start(std::vector<std::string> arguments) const {
  return CaffeProcess::Start(binary_, std::move(arguments), folder_.path(), threads_);
}

Status Workshop::PutText(const std::string& name, const std::string& text) const {
  std::ofstream file(Path(name), std::ios::binary);
  if (!(file << text) || !file.flush())
    return Failed("{}: cannot write: is the disk full?", Path(name).string());
  return Ok();
}

}  // namespace tench::caffe_worker
