// SPDX-License-Identifier: Apache-2.0
#include "data/data_conversion.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "data/sample_writer.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kReportEvery = 100;
constexpr int64_t kCheckpointEvery = 1000;

// The names of the checkpoint in OUT.part/progress.json.
struct Progress {
  std::string source;  // its fingerprint, with its keys
  std::string format;
  WriterCheckpoint written;
};

Result<Progress> ReadProgress(const fs::path& file) {
  const std::string text = TENCH_TRY(ReadFile(file));
  const Json json = TENCH_TRY(ParseJson(text, file.string()));
  Fields fields(json, file.string());
  Progress progress;
  progress.source = fields.String("source");
  progress.format = fields.String("format");
  progress.written.samples = fields.Integer("samples", 0, int64_t{1} << 40);
  progress.written.sizes = fields.Integers("sizes", 0, int64_t{1} << 60);
  TENCH_TRY(fields.Finish());
  return progress;
}

Status WriteProgress(const fs::path& file, const Progress& progress) {
  const Json json = {{"source", progress.source},
                     {"format", progress.format},
                     {"samples", progress.written.samples},
                     {"sizes", progress.written.sizes}};
  return WriteFileAtomically(file, json.dump(1));
}

// Decodes and resizes if the reference asks for it, as the transformation of a batch does.
Status FitSize(const DataReference& reference, StoredSample& sample, Image& decoded,
               Image& resized) {
  const Transform& transform = reference.transform;
  if (transform.resize_height == 0 && transform.channels < 0) return Ok();
  const ImageRequest request{transform.channels < 0 ? 3 : transform.channels,
                             transform.resize_height, transform.resize_width};
  TENCH_TRY(DecodeSample(sample, request, decoded));
  const Image* image = &decoded;
  if (transform.resize_height > 0) {
    Resize(decoded, transform.resize_height, transform.resize_width, resized);
    image = &resized;
  }
  sample.form = SampleForm::kBytes;
  sample.shape = {image->channels, image->height, image->width};
  sample.bytes = image->bytes;
  return Ok();
}

// Keys that change values at training time have no place in a stored data set.
Status CheckKeys(const DataReference& from, const DataReference& to) {
  DataReference plain = from;
  plain.transform.resize_height = plain.transform.resize_width = 0;
  plain.transform.channels = -1;
  if (!(plain.transform == Transform()) || !from.shuffle)
    return Failed("a conversion takes the keys resize, channels, shape and label only");
  if (!(to.transform == Transform()) || !to.shuffle)
    return Failed("the target of a conversion has no keys");
  return Ok();
}

// A conversion under way in OUT.part.
class Conversion {
 public:
  Conversion(const FileData& source, const DataReference& from, const DataReference& to)
      : source_(source), from_(from), to_(to), part_(to.path + ".part") {}

  Status Open() {
    std::error_code ignored;
    if (fs::exists(to_.path, ignored)) return Failed("{}: it exists already", to_.path);
    progress_.source = TENCH_TRY(source_.Fingerprint());
    progress_.format = to_.format;
    if (fs::exists(part_ / "progress.json", ignored)) {
      // An unreadable file of progress begins the conversion again, as another source does.
      const Result<Progress> before = ReadProgress(part_ / "progress.json");
      if (before.ok() && before->source == progress_.source && before->format == progress_.format)
        progress_.written = before->written;
    }
    resumed_from_ = progress_.written.samples;
    if (resumed_from_ == 0) fs::remove_all(part_, ignored);
    std::error_code error;
    fs::create_directories(part_, error);
    if (error) return Failed("{}: {}", part_.string(), error.message());
    SourceFacts facts = source_.facts();
    TENCH_TRY(ReadSample(0));
    facts.shape = sample_.form == SampleForm::kBytes ? sample_.shape : Shape();
    writer_ = TENCH_TRY(MakeSampleWriter(to_.format, part_ / "content", facts, progress_.written));
    return Ok();
  }

  Result<ConversionResult> Run(const DataProgress& progress, const StopToken& stop) {
    const int64_t total = source_.facts().count;
    int64_t index = resumed_from_;
    for (; index < total && !stop.stop_requested(); ++index) {
      TENCH_TRY(ReadSample(index));
      TENCH_TRY(writer_->Add(index, sample_).In(source_.source().Where(index)));
      if (progress && index % kReportEvery == 0) progress(index, total);
      if ((index + 1) % kCheckpointEvery == 0) TENCH_TRY(Checkpoint(index + 1));
    }
    TENCH_TRY(Checkpoint(index));
    writer_.reset();
    if (index < total) return ConversionResult{index, resumed_from_, false};
    std::error_code error;
    if (to_.format == "lmdb") fs::remove(part_ / "content" / "lock.mdb", error);
    fs::rename(part_ / "content", to_.path, error);
    if (error) return Failed("{}: {}", to_.path, error.message());
    fs::remove_all(part_, error);
    return ConversionResult{index, resumed_from_, true};
  }

 private:
  Status ReadSample(int64_t index) {
    const SampleSource& source = source_.source();
    TENCH_TRY(source.Read(index, sample_));
    return FitSize(from_, sample_, decoded_, resized_).In(source.Where(index));
  }
  Status Checkpoint(int64_t samples) {
    progress_.written.sizes = TENCH_TRY(writer_->Checkpoint());
    progress_.written.samples = samples;
    return WriteProgress(part_ / "progress.json", progress_);
  }

  const FileData& source_;
  const DataReference &from_, &to_;
  fs::path part_;
  Progress progress_;
  int64_t resumed_from_ = 0;
  std::unique_ptr<SampleWriter> writer_;
  StoredSample sample_;
  Image decoded_, resized_;
};

}  // namespace

DataCheck CheckSamples(const SampleSource& source, const DataProgress& progress,
                       const StopToken& stop) {
  DataCheck check;
  StoredSample sample;
  Image image;
  const int64_t total = source.facts().count;
  for (int64_t i = 0; i < total && !stop.stop_requested(); ++i) {
    if (progress && i % kReportEvery == 0) progress(i, total);
    ++check.checked;
    Status read = source.Read(i, sample);
    const bool encoded = sample.form == SampleForm::kJpeg || sample.form == SampleForm::kPng;
    if (read.ok() && encoded) read = DecodeSample(sample, {}, image).In(source.Where(i));
    if (!read.ok()) {
      check.broken.push_back(read.error().message);
      continue;
    }
    ++check.of_class[sample.label];
    const Shape shape = encoded ? Shape{image.channels, image.height, image.width} : sample.shape;
    ++check.of_shape[sample.form == SampleForm::kWords ? "words" : ToString(shape)];
  }
  return check;
}

Result<ConversionResult> ConvertData(std::string_view from, std::string_view to,
                                     const DataProgress& progress, const StopToken& stop) {
  const DataReference target = TENCH_TRY(ParseDataReference(to));
  const FileData source = TENCH_TRY(FileData::Open(from));
  TENCH_TRY(CheckKeys(source.reference(), target));
  Conversion conversion(source, source.reference(), target);
  TENCH_TRY(conversion.Open());
  return conversion.Run(progress, stop);
}

}  // namespace tench
