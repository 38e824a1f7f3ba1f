// SPDX-License-Identifier: Apache-2.0
// `tench predict`: the classes of pictures by a network and its weights, in any worker.
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/caffe_data.h"
#include "cli/caffe_weights.h"
#include "cli/class_scores.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/forward_pass.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/live_line.h"
#include "data/data_reference.h"
#include "data/file_data.h"
#include "machine/affinity.h"
#include "net/caffe/solver_file.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

constexpr size_t kMaxLabelBytes = size_t{64} << 20;

struct PredictFlags {
  std::string network, weights, worker = "native", labels, transform;
  std::vector<std::string> pictures;
  int64_t threads = 0, top = 5;
};

struct Classifier {
  Graph graph;
  CaffeNames names;
  std::string data;  // the pictures as a data text
};

// One line per picture; the labels do not count.
Result<std::filesystem::path> ListPictures(const std::vector<std::string>& pictures,
                                           const std::filesystem::path& folder) {
  std::string list;
  for (const std::string& picture : pictures) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(picture, error))
      return Failed("{}: no such file", Printable(picture));
    if (picture.find('\n') != std::string::npos)
      return Failed("{}: a name with a line break", Printable(picture));
    list += std::filesystem::absolute(picture).string() + " 0\n";
  }
  const std::filesystem::path path = folder / "pictures.txt";
  TENCH_TRY(WriteFileAtomically(path, list));
  return path;
}

// The transformation of the prototxt's test data, as far as it fits pictures of any size: they are
// resized to the network's input, or with a mean image to its usual 256x256 and cropped.
Result<std::string> TransformOf(const std::string& path) {
  const std::string text = TENCH_TRY(ReadFile(path, kMostTextBytes));
  CaffeState test;
  test.test = true;
  const std::optional<CaffeDataFiles> files = TENCH_TRY(FindDataFiles(text, path, test));
  if (!files) return std::string();
  std::vector<std::string> keys;
  const bool mean_image = !files->mean_file.empty();
  if (mean_image) {
    const std::string mean = ResolveCaffePath(files->mean_file, path);
    std::error_code error;
    if (!std::filesystem::exists(mean, error))
      return Failed(
          "{}: the mean file '{}' does not exist; give the transformation with --transform", path,
          files->mean_file);
    keys = {"resize=256", "mean_file=" + std::filesystem::absolute(mean).string()};
  }
  for (const std::string& key : files->keys) {
    const bool fits = key.starts_with("mean=") || key.starts_with("scale=") ||
                      key.starts_with("bgr=") || key.starts_with("channels=") ||
                      key.starts_with("resize=") || (mean_image && key.starts_with("crop="));
    if (fits) keys.push_back(key);
  }
  return Join(keys, ",");
}

// The shape that the network's own test data has, if the data is there.
Result<Shape> OwnSample(const std::string& path) {
  const std::string text = TENCH_TRY(ReadFile(path, kMostTextBytes));
  CaffeState test;
  test.test = true;
  const Result<std::optional<CaffeDataFiles>> files = FindDataFiles(text, path, test);
  if (!files.ok() || !*files) return Shape();
  const Result<CaffeDataText> data = OpenCaffeData(**files, path);
  return data.ok() ? data->sample : Shape();
}

Result<Classifier> OpenClassifier(const PredictFlags& flags, const std::filesystem::path& folder) {
  Classifier classifier;
  const bool prototxt = flags.network.ends_with(".prototxt");
  std::string keys = flags.transform;
  if (prototxt && keys.empty()) keys = TENCH_TRY(TransformOf(flags.network));
  const std::filesystem::path list = TENCH_TRY(ListPictures(flags.pictures, folder));
  classifier.data =
      fmt::format("folder:{},shuffle=no{}{}", list.string(), keys.empty() ? "" : ",", keys);
  TENCH_TRY(ParseDataReference(classifier.data).In("--transform"));
  Shape sample = TENCH_TRY(SampleOfData(classifier.data));
  if (prototxt && sample.empty()) sample = TENCH_TRY(OwnSample(flags.network));
  if (prototxt) {
    CaffeState test;
    test.test = true;
    CaffeNetwork network = TENCH_TRY(ReadPrototxtFile(flags.network, test, sample));
    classifier.graph = std::move(network.graph);
    classifier.names = std::move(network.names);
  } else {
    classifier.graph = TENCH_TRY(LoadNetwork(flags.network, "", 0, FileReaders()));
    classifier.names = DefaultCaffeNames(classifier.graph);
  }
  // A picture without the shape of the network's input is an error before anything runs.
  FileData data = TENCH_TRY(FileData::Open(classifier.data));
  const TypedGraph typed = TENCH_TRY(Infer(classifier.graph, 1));
  for (const TypedLayer& layer : typed.layers) {
    const Input* input = std::get_if<Input>(&layer.layer.op);
    const bool grey = input != nullptr && input->role == InputRole::kData &&
                      input->shape.size() == 3 && input->shape[0] == 1;
    if (grey && keys.find("channels=") == std::string::npos) {
      classifier.data += ",channels=1";
      data = TENCH_TRY(FileData::Open(classifier.data));
    }
  }
  TENCH_TRY(data.Fit(typed));
  return classifier;
}

Result<std::vector<std::string>> ReadLabels(const std::string& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  const std::string text = TENCH_TRY(ReadFile(path, kMaxLabelBytes));
  for (const std::string& line : Split(text, '\n')) labels.push_back(Printable(Trim(line), 100));
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  return labels;
}

void PrintPicture(const std::string& picture, int64_t step_ns, std::span<const float> scores,
                  const std::vector<std::string>& labels, int64_t top) {
  fmt::print("{}: {}\n", picture, HumanNs(static_cast<double>(step_ns)));
  for (const ScoredClass& scored : TopClasses(scores, static_cast<size_t>(top))) {
    const auto at = static_cast<size_t>(scored.index);
    fmt::print("  {:.4f}  {}{}{}\n", scored.probability, scored.index,
               at < labels.size() ? " " : "", at < labels.size() ? labels[at] : "");
  }
}

Result<int> Predict(const PredictFlags& flags) {
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-predict-"));
  const std::vector<std::string> labels = TENCH_TRY(ReadLabels(flags.labels));
  const Classifier classifier = TENCH_TRY(OpenClassifier(flags, folder.path()));
  WorkerCatalog workers = WorkerCatalog::Discover();
  const WorkerName worker = WorkerName::Of(flags.worker);
  ForwardPass pass;
  pass.worker = TENCH_TRY(workers.Find(worker.name));
  pass.version = worker.version;
  pass.job.network = classifier.graph;
  pass.job.threads = flags.threads > 0 ? flags.threads : static_cast<int64_t>(AllowedCpus().size());
  pass.job.data = classifier.data;
  pass.job.cycled = true;
  pass.batches = static_cast<int64_t>(flags.pictures.size());
  WeightFiles weights =
      TENCH_TRY(UnpackWeights(flags.weights, classifier.graph, classifier.names, folder.path()));
  for (const std::string& note : weights.notes) fmt::print(stderr, "tench: note: {}\n", note);
  pass.job.tensors.load = std::move(weights.load);
  Interrupt interrupt;
  LiveLine line;
  const auto show = [&](int64_t done) {
    line.Show(CountedProgress(static_cast<size_t>(done), 3 * flags.pictures.size(),
                              "classifying with " + flags.worker));
  };
  show(0);
  // The time is that of a build that fuses layers as a timed run does. It keeps no outputs, so a
  // second pass reads the scores.
  ForwardPass timed = pass;
  timed.warmup_batches = pass.batches;
  timed.progress = show;
  const ForwardAnswer times = TENCH_TRY(RunForward(
      std::move(timed), [](int64_t, const auto&) { return Ok(); }, interrupt.stop()));
  pass.outputs = {TENCH_TRY(ScoresLayer(classifier.graph))};
  pass.progress = [&](int64_t done) { show(2 * std::ssize(flags.pictures) + done); };
  const BatchOutputs print = [&](int64_t batch,
                                 const std::vector<std::vector<float>>& values) -> Status {
    const auto at = static_cast<size_t>(batch);
    line.Clear();
    PrintPicture(flags.pictures[at], times.step_ns.at(at), values[0], labels, flags.top);
    return Ok();
  };
  TENCH_TRY(RunForward(std::move(pass), print, interrupt.stop()));
  return kExitOk;
}

}  // namespace

Command AddPredictCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("predict", "Classify pictures with a network and its weights");
  auto flags = std::make_shared<PredictFlags>();
  app->add_option("pictures", flags->pictures, "JPEG or PNG files")->required()->type_name("");
  app->add_option("--network", flags->network, "network (tench list networks), or a file")
      ->required()
      ->type_name("");
  app->add_option("--weights", flags->weights, ".caffemodel file")->required()->type_name("");
  app->add_option("--worker", flags->worker,
                  "worker (tench list workers), or NAME@VERSION [native]")
      ->type_name("");
  app->add_option("--labels", flags->labels, "file with the name of class N in line N + 1")
      ->type_name("");
  app->add_option("--top", flags->top, "number of classes to print [5]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20).description(""));
  app->add_option("--transform", flags->transform,
                  "keys of docs/data.md, such as resize=256,crop=227,bgr=yes [the prototxt's]")
      ->type_name("");
  app->add_option("--threads", flags->threads, "threads [all CPUs]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}).description(""));
  app->footer(
      "Prints the time of each picture's forward pass, without decoding, and its likeliest "
      "classes\n"
      "with their softmax probability.\n"
      "  tench predict --network deploy.prototxt --weights x.caffemodel --labels words.txt a.jpg");
  return {app, [flags] { return Predict(*flags); }};
}

}  // namespace tench
