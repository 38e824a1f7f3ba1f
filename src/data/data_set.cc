// SPDX-License-Identifier: Apache-2.0
#include "data/data_set.h"

#include "base/file.h"
#include "base/text.h"
#include "data/file_data.h"
#include "net/graph_json.h"

namespace tench {
namespace {

constexpr size_t kMaxNetworkBytes = size_t{64} << 20;  // limit for a network's file

DataSet Images(std::string name, std::string help, int64_t channels, int64_t size, int64_t classes,
               int64_t images) {
  InputSpec spec;
  spec.data = name;
  spec.channels = channels;
  spec.height = spec.width = size;
  spec.classes = classes;
  return {std::move(name), std::move(help), std::move(spec), images};
}

DataSet Sequences(std::string name, std::string help, int64_t vocabulary, int64_t length,
                  int64_t classes, int64_t images) {
  InputSpec spec;
  spec.data = name;
  spec.vocabulary = vocabulary;
  spec.length = length;
  spec.classes = classes;
  return {std::move(name), std::move(help), std::move(spec), images};
}

bool IsFile(std::string_view network) {
  return network.find('/') != std::string_view::npos || network.ends_with(".json") ||
         network.ends_with(".prototxt");
}

// The error for a network that has its own inputs.
Status RefuseDataForFile(std::string_view network, std::string_view data, int64_t length) {
  if (!data.empty())
    return Failed("'{}' is a network file with its own inputs; remove the data set '{}'", network,
                  Printable(data));
  if (length != 0)
    return Failed("'{}' is a network file with its own inputs; remove the sequence length",
                  network);
  return Ok();
}

// A network that cannot read the data is `unsupported`; broken data is a failure.
Error Mismatch(Error error) {
  error.kind = ErrorKind::kUnsupported;
  return error;
}

// {C, H, W} of the samples; {} if they have no common shape, or are words.
Result<Shape> SampleShape(std::string_view data) {
  InputSpec spec;
  if (IsDataReference(data)) {
    const FileData opened = TENCH_TRY(FileData::Open(data));
    spec = TENCH_TRY(opened.SpecFor(InputSpec{}));
  } else {
    spec = TENCH_TRY(FindDataSet(data))->spec;
  }
  if (spec.channels < 1 || spec.height < 1 || spec.width < 1) return Shape();
  return Shape{spec.channels, spec.height, spec.width};
}

Result<Graph> ReadNetworkFile(std::string_view name, std::string_view data, int64_t length,
                              const NetworkReaders& readers) {
  const bool real = IsDataReference(data);
  for (const auto& [ending, read] : readers) {
    if (!name.ends_with(ending)) continue;
    Result<Graph> graph = read(std::string(name), {});
    if (!graph.ok() && !data.empty()) {
      const Result<Shape> sample = SampleShape(data);
      if (sample.ok() && !sample->empty()) return read(std::string(name), *sample);
    }
    if (graph.ok()) TENCH_TRY(RefuseDataForFile(name, real ? "" : data, length));
    return graph;
  }
  TENCH_TRY(RefuseDataForFile(name, real ? "" : data, length));
  const std::string text = TENCH_TRY(ReadFile(std::filesystem::path(name), kMaxNetworkBytes));
  return ParseGraph(text, name);
}

// The usual data set of a built-in network, with another sequence length if one is asked for.
Result<InputSpec> SpecOf(std::string_view network, std::string_view data, int64_t length) {
  const DataSet* set = TENCH_TRY(FindDataSet(data));
  InputSpec spec = set->spec;
  if (length == 0) return spec;
  if (!spec.sequences())
    return Failed("'{}' on '{}' has images, not sequences; remove the sequence length", network,
                  spec.data);
  if (length < 1 || length > kMaxSize)
    return Failed("the sequence length is {}; it must be from 1 to {}", length, kMaxSize);
  spec.length = length;
  return spec;
}

Result<Graph> BuildFor(const ZooEntry& entry, const FileData& data, int64_t length) {
  const InputSpec usual = TENCH_TRY(SpecOf(entry.name, entry.default_data, length));
  Result<InputSpec> spec = data.SpecFor(usual);
  if (!spec.ok()) return Mismatch(std::move(spec).error());
  if (length != 0) spec->length = length;
  Result<Graph> graph = entry.build(*spec);
  if (!graph.ok()) return Mismatch(std::move(graph).error());
  return graph;
}

}  // namespace

std::span<const DataSet> DataSets() {
  static const std::vector<DataSet> sets = {
      Images("mnist", "handwritten digits, 1x28x28, 10 classes", 1, 28, 10, 60'000),
      Images("cifar10", "small colour images, 3x32x32, 10 classes", 3, 32, 10, 50'000),
      Images("imagenet", "ILSVRC 2012 photographs, 3x224x224, 1000 classes", 3, 224, 1000,
             1'281'167),
      Sequences("imdb", "film reviews, 100 of 20000 words, 2 classes", 20'000, 100, 2, 25'000),
  };
  return sets;
}

Result<const DataSet*> FindDataSet(std::string_view name) {
  std::vector<std::string> names;
  for (const DataSet& set : DataSets()) {
    if (set.name == name) return &set;
    names.push_back(set.name);
  }
  return Failed("unknown data set '{}'{}", Printable(name), Hint(name, names));
}

Result<std::string> ResolveData(std::string_view network, std::string_view data) {
  if (IsDataReference(data)) {
    const FileData opened = TENCH_TRY(FileData::Open(data));
    TENCH_TRY(opened.CheckFingerprint());
    if (!opened.reference().fingerprint.empty()) return std::string(data);
    return fmt::format("{},fingerprint={}", data, TENCH_TRY(opened.Fingerprint()));
  }
  if (IsFile(network)) {
    // A file that leaves the shape of its data open may have a set; LoadNetwork refuses the others.
    if (data.empty()) return std::string();
    if (network.ends_with(".json")) TENCH_TRY(RefuseDataForFile(network, data, 0));
    return TENCH_TRY(FindDataSet(data))->name;
  }
  const ZooEntry* entry = TENCH_TRY(FindNetwork(network));
  if (data.empty()) return entry->default_data;
  const DataSet* set = TENCH_TRY(FindDataSet(data));
  return set->name;
}

Result<Graph> LoadNetwork(std::string_view name, std::string_view data, int64_t length,
                          const NetworkReaders& readers) {
  const bool real = IsDataReference(data);
  if (IsFile(name)) {
    return ReadNetworkFile(name, data, length, readers);
  }
  const ZooEntry* entry = TENCH_TRY(FindNetwork(name));
  if (real) {
    const FileData opened = TENCH_TRY(FileData::Open(data));
    return BuildFor(*entry, opened, length);
  }
  const std::string resolved = TENCH_TRY(ResolveData(name, data));
  const InputSpec spec = TENCH_TRY(SpecOf(name, resolved, length));
  return entry->build(spec);
}

Status CheckData(const Graph& network, std::string_view data) {
  FileData opened = TENCH_TRY(FileData::Open(data));
  const TypedGraph graph = TENCH_TRY(Infer(network, 1));
  if (Status fits = opened.Fit(graph); !fits.ok()) return Mismatch(std::move(fits).error());
  if (const int64_t classes = ClassesOf(graph); classes > 0) TENCH_TRY(opened.CheckLabels(classes));
  return Ok();
}

Status CheckTestData(const Graph& network, std::string_view data, std::string_view test_data) {
  if (IsDataReference(data)) {
    const FileData training = TENCH_TRY(FileData::Open(data));
    const FileData test = TENCH_TRY(FileData::Open(test_data));
    const std::vector<std::string>& ours = training.facts().class_names;
    const std::vector<std::string>& theirs = test.facts().class_names;
    for (size_t i = 0; !ours.empty() && i < theirs.size(); ++i) {
      if (i >= ours.size() || ours[i] != theirs[i])
        return Failed("{}:{}: its class {} is '{}', but that of the training data is '{}'",
                      test.reference().format, test.reference().path, i, theirs[i],
                      i < ours.size() ? ours[i] : "missing");
    }
  }
  const Status fits = CheckData(network, test_data);
  // The test split is given explicitly, so a mismatch is a mistake and no unsupported cell.
  if (!fits.ok()) return Failed("{}", fits.error().message);
  return Ok();
}

Result<int64_t> ImagesOf(std::string_view data) {
  if (IsDataReference(data)) return TENCH_TRY(FileData::Open(data)).facts().count;
  return TENCH_TRY(FindDataSet(data))->images;
}

}  // namespace tench
