// SPDX-License-Identifier: Apache-2.0
// Images per second of one loader thread that reads, decodes, crops and mirrors pictures, over
// those of a plain libjpeg-turbo loop that reads and decodes the same files; and the CPU time of
// reading MNIST from idx files per batch:
//   bench_loader FOLDER [CROP]      a folder of classes with JPEG pictures; the square [224]
//   bench_loader --idx FOLDER       idx files, in batches of 64
// The two loops run in turns; each time is the shortest of the rounds.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

// It needs the types of the headers above.
#include <jpeglib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "data/batch_loader.h"
#include "data/data_set.h"
#include "data/file_data.h"
#include "net/builder.h"

namespace tench {
namespace {

constexpr int kRounds = 5;
constexpr int64_t kBatch = 16, kIdxBatch = 64;
constexpr size_t kMaxFileBytes = size_t{64} << 20;

// A network that only reads its input.
Result<TypedGraph> InputOf(const Shape& shape, int64_t classes, int64_t batch) {
  GraphBuilder b("input");
  b.Append("data", Input{InputRole::kData, shape, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label",
           Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, static_cast<double>(classes)}}, {});
  b.Append("fc", FullyConnected{classes}, {"data"}, {});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return Infer(b.Take(), batch);
}

struct LoaderTime {
  double wall_ns = 0, cpu_ns = 0;  // per sample
};

// One epoch of whole batches through one loader thread.
Result<LoaderTime> TimeLoader(const FileData& data, const TypedGraph& graph) {
  BatchLoader::Options options;
  options.rows = graph.batch;
  options.chunk = std::max<int64_t>(1, graph.batch / 4);
  options.steps = data.count() / graph.batch;
  const auto make_filler = [&]() -> BatchLoader::RowFiller {
    const auto scratch = std::make_shared<FileData::RowScratch>();
    return [&, scratch](int64_t step, int64_t begin, int64_t end, std::vector<HostTensor>& batch) {
      return data.FillRows(graph, step * graph.batch, begin, end, batch, *scratch);
    };
  };
  const int64_t start_ns = NowNs();
  BatchLoader loader(options, make_filler,
                     [&](std::vector<HostTensor>& batch) { SizeBatch(graph, batch); });
  for (int64_t step = 0; step < options.steps; ++step) TENCH_TRY(loader.Next());
  const auto samples = static_cast<double>(options.steps * graph.batch);
  return LoaderTime{static_cast<double>(NowNs() - start_ns) / samples,
                    static_cast<double>(loader.work().cpu_ns) / samples};
}

// As in libjpeg's documentation, with its usual settings.
Status DecodePlainly(const std::filesystem::path& file, std::string& pixels) {
  const std::string content = TENCH_TRY(ReadFile(file, kMaxFileBytes));
  jpeg_decompress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(content.data()), content.size());
  jpeg_read_header(&codec, TRUE);
  codec.out_color_space = JCS_RGB;
  jpeg_start_decompress(&codec);
  const size_t stride = size_t{codec.output_width} * 3;
  pixels.resize(stride * codec.output_height);
  while (codec.output_scanline < codec.output_height) {
    auto* row = reinterpret_cast<JSAMPROW>(pixels.data() + stride * codec.output_scanline);
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
  return Ok();
}

Result<double> TimePlainLoop(const std::vector<std::filesystem::path>& files, size_t count) {
  std::string pixels;
  const int64_t start_ns = NowNs();
  for (size_t i = 0; i < count; ++i) TENCH_TRY(DecodePlainly(files[i], pixels));
  return static_cast<double>(NowNs() - start_ns) / static_cast<double>(count);
}

Status ComparePictures(const std::string& folder, int64_t crop) {
  FileData data =
      TENCH_TRY(FileData::Open(fmt::format("folder:{},crop={},mirror=yes", folder, crop)));
  const TypedGraph graph =
      TENCH_TRY(InputOf({3, crop, crop}, std::max<int64_t>(data.facts().classes, 2), kBatch));
  TENCH_TRY(data.Fit(graph));
  data.Start(1, 0, true);
  std::vector<std::filesystem::path> pictures;
  for (const std::filesystem::path& file : data.facts().files) {
    const std::string ending = file.extension().string();
    if (std::filesystem::is_regular_file(file) &&
        (ending == ".jpg" || ending == ".jpeg" || ending == ".JPEG"))
      pictures.push_back(file);
  }
  const size_t count = static_cast<size_t>(data.count() / kBatch * kBatch);
  if (pictures.size() != static_cast<size_t>(data.count()))
    return Failed("{}: {} of {} pictures are JPEG files", folder, pictures.size(), data.count());
  double plain_ns = std::numeric_limits<double>::max();
  LoaderTime best{plain_ns, plain_ns};
  for (int round = 0; round < kRounds; ++round) {
    plain_ns = std::min(plain_ns, TENCH_TRY(TimePlainLoop(pictures, count)));
    const LoaderTime loader = TENCH_TRY(TimeLoader(data, graph));
    best.wall_ns = std::min(best.wall_ns, loader.wall_ns);
    best.cpu_ns = std::min(best.cpu_ns, loader.cpu_ns);
  }
  fmt::print("pictures                 {} per round, {} rounds\n", count, kRounds);
  fmt::print("plain libjpeg-turbo loop {:8.1f} images/s\n", 1e9 / plain_ns);
  fmt::print("one loader thread        {:8.1f} images/s, {:.1f} µs of CPU per image\n",
             1e9 / best.wall_ns, best.cpu_ns / 1e3);
  fmt::print("ratio                    {:8.3f} (the bar is 0.9)\n", plain_ns / best.wall_ns);
  return Ok();
}

Status TimeIdx(const std::string& folder) {
  FileData data = TENCH_TRY(FileData::Open(fmt::format("mnist:{},scale=0.00390625", folder)));
  const TypedGraph graph = TENCH_TRY(InputOf(data.facts().shape, 10, kIdxBatch));
  TENCH_TRY(data.Fit(graph));
  data.Start(1, 0, true);
  double best_ns = std::numeric_limits<double>::max();
  for (int round = 0; round < 4 * kRounds; ++round)
    best_ns = std::min(best_ns, TENCH_TRY(TimeLoader(data, graph)).cpu_ns);
  fmt::print("idx: {:.3f} µs of CPU per sample, {:.1f} µs per batch of {}\n", best_ns / 1e3,
             best_ns * kIdxBatch / 1e3, kIdxBatch);
  return Ok();
}

int Main(const std::vector<std::string>& words) {
  if (words.empty() || words.size() > 2) {
    fmt::print(stderr, "usage: bench_loader FOLDER [CROP] | bench_loader --idx FOLDER\n");
    return 2;
  }
  Status done;
  if (words[0] == "--idx" && words.size() == 2) {
    done = TimeIdx(words[1]);
  } else {
    const auto crop = words.size() == 2 ? ParseInteger(words[1]) : Result<int64_t>(224);
    done = crop.ok() ? ComparePictures(words[0], *crop) : Status(crop.error());
  }
  if (done.ok()) return 0;
  fmt::print(stderr, "bench_loader: {}\n", done.error().message);
  return 1;
}

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  return tench::Main(std::vector<std::string>(argv + 1, argv + argc));
}
