// SPDX-License-Identifier: Apache-2.0
#include "data/sample_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lmdb.h>
#include <zlib.h>

#include <thread>

#include "base/file.h"
#include "data/datum.h"
#include "data/record_file.h"
#include "data/test_data_files.h"

namespace tench::sample_source_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class SampleSourceTest : public testing::Test {
 protected:
  std::unique_ptr<SampleSource> Open(std::string_view format, const fs::path& path,
                                     const SourceOptions& options = {}) const {
    OpenedSource source = OpenSource(format, path, options);
    Check(source.ok(), source.ok() ? "" : source.error().message);
    return *std::move(source);
  }
  std::string ErrorOf(std::string_view format, const fs::path& path) const {
    const OpenedSource source = OpenSource(format, path);
    if (!source.ok()) return source.error().message;
    StoredSample sample;
    for (int64_t i = 0; i < (*source)->facts().count; ++i) {
      if (const Status read = (*source)->Read(i, sample); !read.ok()) return read.error().message;
    }
    return "no error";
  }
  StoredSample Read(const SampleSource& source, int64_t index) const {
    StoredSample sample;
    const Status read = source.Read(index, sample);
    Check(read.ok(), read.ok() ? "" : read.error().message);
    return sample;
  }

  TemporaryFolder folder = *TemporaryFolder::Make("source-test");
  fs::path root = folder.path();
};

std::string Gzip(const std::string& content) {
  z_stream stream{};
  Check(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib");
  std::string out(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  Check(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(SampleSourceTest, ReadsIdxPlainAndCompressed) {
  WriteIdx(root, 5, 4, 3);
  for (const bool compressed : {false, true}) {
    if (compressed) {
      for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}) {
        WriteBytes(root / (std::string(name) + ".gz"), Gzip(*ReadFile(root / name)));
        fs::remove(root / name);
      }
    }
    const auto source = Open("mnist", root);
    EXPECT_EQ(source->facts().count, 5);
    EXPECT_EQ(source->facts().classes, 3);
    EXPECT_EQ(source->facts().shape, (Shape{1, 4, 4}));
    const StoredSample sample = Read(*source, 4);
    EXPECT_EQ(sample.bytes, Ramp(4, 16));
    EXPECT_EQ(sample.label, 1);
    EXPECT_THAT(source->Where(1), EndsWith("offset 32"));
  }
}

TEST_F(SampleSourceTest, TruncatedIdxIsNamedWithItsOffset) {
  WriteIdx(root, 5, 4, 3);
  const fs::path images = root / "train-images-idx3-ubyte",
                 labels = root / "train-labels-idx1-ubyte";
  const std::string whole = *ReadFile(images);
  WriteBytes(images, whole.substr(0, 50));
  EXPECT_EQ(ErrorOf("mnist", root),
            images.string() + ": offset 50: the file is truncated: 5x4x4 values need 96 bytes");
  WriteBytes(images, whole + "x");
  EXPECT_THAT(ErrorOf("mnist", images), HasSubstr("offset 96: unexpected bytes"));
  WriteBytes(images, whole.substr(0, 9));
  EXPECT_THAT(ErrorOf("mnist", images), HasSubstr("offset 9: the file ends"));
  WriteBytes(images, "no idx at all");
  EXPECT_THAT(ErrorOf("mnist", images), HasSubstr("offset 0: not an idx file"));
  WriteBytes(images, whole);
  WriteBytes(labels, BigEndian(0x801) + BigEndian(2) + std::string(2, '\0'));
  EXPECT_THAT(ErrorOf("mnist", images), HasSubstr("2 labels, but"));
  fs::remove(labels);
  EXPECT_THAT(ErrorOf("mnist", images), HasSubstr("train-labels-idx1-ubyte"));
  const std::string compressed = Gzip(whole);
  WriteBytes(images, compressed.substr(0, compressed.size() - 9));
  EXPECT_THAT(ErrorOf("mnist", images), HasSubstr("the gzip data is cut off"));
}

TEST_F(SampleSourceTest, ReadsCifarRecordsOfSeveralFiles) {
  WriteBytes(root / "data_batch_1.bin", "\x01" + Ramp(0, 3072) + "\x02" + Ramp(1, 3072));
  WriteBytes(root / "data_batch_2.bin", "\x09" + Ramp(2, 3072));
  WriteBytes(root / "test_batch.bin", "\x03" + Ramp(3, 3072));
  const auto source = Open("cifar10", root);
  EXPECT_EQ(source->facts().count, 3);
  EXPECT_EQ(Read(*source, 1).label, 2);
  EXPECT_EQ(Read(*source, 2).label, 9);
  EXPECT_EQ(Read(*source, 2).bytes, Ramp(2, 3072));
  EXPECT_THAT(source->Where(1), EndsWith("data_batch_1.bin: offset 3073"));
  EXPECT_EQ(Open("cifar10", root / "test_batch.bin")->facts().count, 1);

  WriteBytes(root / "train.bin", std::string("\x05\x63", 2) + Ramp(7, 3072));
  const auto fine = Open("cifar100", root / "train.bin");
  EXPECT_EQ(fine->facts().classes, 100);
  EXPECT_EQ(Read(*fine, 0).label, 0x63);
  EXPECT_EQ(Read(*fine, 0).bytes, Ramp(7, 3072));
}

TEST_F(SampleSourceTest, BrokenCifarFilesAreNamed) {
  const fs::path file = root / "a.bin";
  WriteBytes(file, std::string(4000, '\0'));
  EXPECT_EQ(ErrorOf("cifar10", file),
            file.string() + ": offset 4000: the file is truncated: record 1 has 927 of 3073 bytes");
  WriteBytes(file, "\x0a" + Ramp(0, 3072));
  EXPECT_THAT(ErrorOf("cifar10", file), HasSubstr("offset 0: the label 10 is not from 0 to 9"));
  EXPECT_THAT(ErrorOf("cifar10", root), HasSubstr("no training files"));
}

TEST_F(SampleSourceTest, ReadsAFolderPerClassInTheOrderOfNames) {
  const std::string png = *EncodePng(RampImage(3, 4, 4, 1)), jpeg = EncodeJpeg(SmoothImage(8, 8));
  WriteBytes(root / "pike/b.png", png);
  WriteBytes(root / "pike/a.JPEG", jpeg);
  WriteBytes(root / "pike/notes.txt", "left out");
  WriteBytes(root / "carp/z.jpg", png);  // the content decides
  WriteBytes(root / ".hidden/x.png", png);
  const auto source = Open("folder", root);
  EXPECT_EQ(source->facts().count, 3);
  EXPECT_THAT(source->facts().class_names, ElementsAre("carp", "pike"));
  EXPECT_EQ(Read(*source, 0).form, SampleForm::kPng);
  EXPECT_EQ(Read(*source, 0).label, 0);
  EXPECT_EQ(Read(*source, 1).form, SampleForm::kJpeg);
  EXPECT_EQ(Read(*source, 1).bytes, jpeg);
  EXPECT_EQ(Read(*source, 2).label, 1);
}

TEST_F(SampleSourceTest, ReadsAListOfImages) {
  WriteBytes(root / "my images/a.png", *EncodePng(RampImage(3, 4, 4, 1)));
  WriteBytes(root / "list.txt", "my images/a.png 7\n\nmy images/a.png 2\n");
  const auto source = Open("folder", root / "list.txt");
  EXPECT_EQ(source->facts().count, 2);
  EXPECT_EQ(source->facts().classes, 8);
  EXPECT_EQ(Read(*source, 0).label, 7);
  WriteBytes(root / "list.txt", "my images/a.png 7\nabsent.png 1\n");
  EXPECT_THAT(ErrorOf("folder", root / "list.txt"), HasSubstr("list.txt:2: no file '"));
  WriteBytes(root / "list.txt", "my images/a.png\n");
  EXPECT_THAT(ErrorOf("folder", root / "list.txt"), HasSubstr("list.txt:1: expected 'FILE LABEL'"));
}

TEST_F(SampleSourceTest, AFolderWithoutClassesIsNamed) {
  EXPECT_THAT(ErrorOf("folder", root), HasSubstr("no class folders"));
  fs::create_directory(root / "empty");
  EXPECT_THAT(ErrorOf("folder", root), HasSubstr("empty: the class folder has no"));
  WriteBytes(root / "empty/a.jpg", "no image");
  EXPECT_THAT(ErrorOf("folder", root), HasSubstr("a.jpg: offset 0: neither a JPEG nor a PNG"));
  EXPECT_THAT(ErrorOf("folder", root / "absent"), HasSubstr("no such file or folder"));
}

void WriteLmdb(const fs::path& path, const std::vector<std::string>& values) {
  fs::create_directories(path);
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_dbi database = 0;
  Check(mdb_env_create(&env) == 0 && mdb_env_set_mapsize(env, 1 << 24) == 0 &&
            mdb_env_open(env, path.c_str(), MDB_NOLOCK, 0644) == 0 &&
            mdb_txn_begin(env, nullptr, 0, &txn) == 0 &&
            mdb_dbi_open(txn, nullptr, 0, &database) == 0,
        "the test's database cannot be made");
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string name = fmt::format("{:08}", i);
    MDB_val key{name.size(), const_cast<char*>(name.data())};
    MDB_val value{values[i].size(), const_cast<char*>(values[i].data())};
    Check(mdb_put(txn, database, &key, &value, 0) == 0, "the test's record cannot be put");
  }
  Check(mdb_txn_commit(txn) == 0, "the test's database cannot be written");
  mdb_env_close(env);
}

std::string DatumBytes(const Shape& shape, int64_t n, int64_t label) {
  StoredSample sample;
  sample.shape = shape;
  sample.bytes = Ramp(n, ElementCount(shape));
  sample.label = label;
  return *DatumOf(sample);
}

TEST_F(SampleSourceTest, ReadsRawDatumsOfAnLmdb) {
  WriteLmdb(root / "db", {DatumBytes({1, 2, 3}, 0, 4), DatumBytes({1, 2, 3}, 9, 1)});
  for (const fs::path& path : {root / "db", root / "db" / "data.mdb"}) {
    const auto source = Open("lmdb", path);
    EXPECT_EQ(source->facts().count, 2);
    EXPECT_EQ(source->facts().shape, (Shape{1, 2, 3}));
    EXPECT_EQ(Read(*source, 1).bytes, Ramp(9, 6));
    EXPECT_EQ(Read(*source, 0).label, 4);
    EXPECT_THAT(source->Where(1), EndsWith("data.mdb: key '00000001'"));
  }
}

TEST_F(SampleSourceTest, ReadsEncodedDatumsOfAnLmdb) {
  StoredSample sample;
  sample.form = SampleForm::kPng;
  sample.bytes = *EncodePng(RampImage(3, 4, 4, 1));
  sample.label = 3;
  WriteLmdb(root, {*DatumOf(sample)});
  const auto source = Open("lmdb", root);
  EXPECT_TRUE(source->facts().encoded);
  EXPECT_EQ(Read(*source, 0).form, SampleForm::kPng);
  EXPECT_EQ(Read(*source, 0).bytes, sample.bytes);
  EXPECT_EQ(Read(*source, 0).label, 3);
}

TEST_F(SampleSourceTest, BrokenLmdbsAreNamed) {
  WriteLmdb(root / "shapes", {DatumBytes({1, 2, 3}, 0, 4), DatumBytes({1, 3, 3}, 0, 4)});
  EXPECT_THAT(ErrorOf("lmdb", root / "shapes"),
              HasSubstr("key '00000001': a Datum of 1x3x3, but the first one is 1x2x3"));
  WriteLmdb(root / "size", {"\x08\x01\x10\x02\x18\x02\x22\x01x"});
  EXPECT_THAT(ErrorOf("lmdb", root / "size"), HasSubstr("1 values, but its shape is 1x2x2"));
  WriteLmdb(root / "broken", {"\x22\x7f"});
  EXPECT_THAT(ErrorOf("lmdb", root / "broken"), HasSubstr("broken protobuf message at byte 2"));
  WriteLmdb(root / "empty", {});
  EXPECT_THAT(ErrorOf("lmdb", root / "empty"), HasSubstr("the database is empty"));
  const fs::path file = root / "shapes" / "data.mdb";
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_THAT(ErrorOf("lmdb", file), HasSubstr("the file is truncated"));
  WriteBytes(root / "none/data.mdb", "no database");
  EXPECT_THAT(ErrorOf("lmdb", root / "none"), HasSubstr("not a readable LMDB"));
}

// liblmdb would follow a wrong page number or offset out of the file.
TEST_F(SampleSourceTest, NoByteOfAnLmdbsPagesEndsTheProcess) {
  std::vector<std::string> datums;
  for (int64_t n = 0; n < 200; ++n) datums.push_back(DatumBytes({1, 4, 4}, n, n));
  datums.push_back(DatumBytes({1, 100, 100}, 7, 1));  // on overflow pages
  WriteLmdb(root / "db", datums);
  const fs::path file = root / "db" / "data.mdb";
  std::string whole(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary).read(whole.data(), static_cast<int64_t>(whole.size()));
  constexpr size_t kPage = 4096;
  int refused = 0;
  for (size_t page = 0; page < whole.size(); page += kPage) {
    for (size_t at = page; at < page + 160; at += 3) {
      for (const char value : {'\0', '\x7f', '\xff'}) {
        std::string damaged = whole;
        damaged[at] = value;
        WriteBytes(file, damaged);
        const OpenedSource source = OpenSource("lmdb", file);
        refused += !source.ok();
        StoredSample sample;
        for (int64_t i = 0; source.ok() && i < (*source)->facts().count; i += 40)
          (void)(*source)->Read(i, sample);
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(SampleSourceTest, DamagedLmdbPagesAreNamedWithTheirOffset) {
  WriteLmdb(root / "db", {DatumBytes({1, 2, 3}, 0, 4)});
  const fs::path file = root / "db" / "data.mdb";
  std::string bytes(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<int64_t>(bytes.size()));
  bytes[2 * 4096 + 16] = '\xff';  // the first node of the only leaf
  bytes[2 * 4096 + 17] = '\x7f';
  WriteBytes(file, bytes);
  EXPECT_THAT(ErrorOf("lmdb", file), HasSubstr("offset 8192: a node lies outside of the page"));
}

TEST_F(SampleSourceTest, ReviewsBecomeRanksOfTheTrainingWords) {
  WriteBytes(root / "train/neg/0_1.txt", "Bad, bad film!<br /><br />The film");
  WriteBytes(root / "train/pos/0_9.txt", "the GOOD film isn't bad");
  WriteBytes(root / "test/neg/0_2.txt", "unseen bad");
  WriteBytes(root / "test/pos/0_8.txt", "good");
  // bad 3, film 3, the 2, good 1, isn't 1.
  const auto train = Open("imdb", root);
  EXPECT_EQ(train->facts().count, 2);
  EXPECT_EQ(train->facts().vocabulary, 20'000);
  EXPECT_THAT(Read(*train, 0).words, ElementsAre(2, 2, 3, 4, 3));
  EXPECT_EQ(Read(*train, 0).label, 0);
  EXPECT_THAT(Read(*train, 1).words, ElementsAre(4, 5, 3, 6, 2));
  EXPECT_EQ(Read(*train, 1).label, 1);
  SourceOptions few;
  few.vocabulary = 4;
  const auto test = Open("imdb", root / "test", few);
  EXPECT_THAT(Read(*test, 0).words, ElementsAre(1, 2));
  EXPECT_THAT(Read(*test, 1).words, ElementsAre(1));
  EXPECT_THAT(ErrorOf("imdb", root / "train" / "neg"), HasSubstr("neither neg/ and pos/"));
}

TEST_F(SampleSourceTest, ReadsTablesOfNumbers) {
  WriteBytes(root / "a.csv", "p0,p1,label\n1,255,3\r\n 0.5,-2,1\n\n");
  SourceOptions options;
  options.shape = {1, 1, 2};
  const auto source = Open("csv", root / "a.csv", options);
  EXPECT_EQ(source->facts().count, 2);
  EXPECT_EQ(Read(*source, 0).form, SampleForm::kBytes);
  EXPECT_EQ(Read(*source, 0).bytes, "\x01\xff");
  EXPECT_EQ(Read(*source, 0).label, 3);
  EXPECT_EQ(Read(*source, 1).form, SampleForm::kReals);
  EXPECT_THAT(Read(*source, 1).reals, ElementsAre(0.5f, -2.0f));
  options.label_first = true;
  EXPECT_EQ(Read(*Open("csv", root / "a.csv", options), 0).label, 1);
  WriteBytes(root / "b.csv", "1,2,3\n4,five,6\n");
  EXPECT_EQ(ErrorOf("csv", root / "b.csv"),
            (root / "b.csv").string() + ": offset 6: column 2: 'five' is no number");
  WriteBytes(root / "b.csv", "1,2,3\n4,5\n");
  EXPECT_THAT(ErrorOf("csv", root / "b.csv"), HasSubstr("offset 6: 2 columns instead of 3"));
  WriteBytes(root / "b.csv", "1,2,-3\n");
  EXPECT_THAT(ErrorOf("csv", root / "b.csv"), HasSubstr("the label -3 is no class number"));
}

StoredSample Png(int64_t n, int64_t label) {
  StoredSample sample;
  sample.form = SampleForm::kPng;
  sample.bytes = *EncodePng(RampImage(3, 4, 4, n));
  sample.label = label;
  return sample;
}

TEST_F(SampleSourceTest, ReadsTfRecords) {
  std::string file;
  for (int64_t n = 0; n < 3; ++n) file += TfRecordOf(ExampleOf(Png(n, n + 5)));
  WriteBytes(root / "a.tfrecord", file);
  const auto source = Open("tfrecord", root / "a.tfrecord");
  EXPECT_EQ(source->facts().count, 3);
  EXPECT_EQ(Read(*source, 2).label, 7);
  EXPECT_EQ(Read(*source, 2).bytes, Png(2, 0).bytes);
  WriteBytes(root / "a.tfrecord", file.substr(0, file.size() - 1));
  EXPECT_THAT(ErrorOf("tfrecord", root / "a.tfrecord"), HasSubstr("the file is truncated"));
  file[20] ^= 1;
  WriteBytes(root / "a.tfrecord", file);
  EXPECT_THAT(ErrorOf("tfrecord", root / "a.tfrecord"),
              HasSubstr("offset 0: the record's checksum differs"));
  // The masked checksum of TensorFlow's own files: the length 0 and the empty message.
  EXPECT_EQ(MaskedCrc32c(""), 0xa282ead8u);
  EXPECT_EQ(MaskedCrc32c("123456789"), ((0xe3069283u >> 15 | 0xe3069283u << 17) + 0xa282ead8u));
}

TEST_F(SampleSourceTest, ReadsRecordIoWithTheMagicNumberInAnImage) {
  StoredSample odd = Png(1, 4);
  // After the header of 24 bytes, at a multiple of 4.
  odd.bytes.resize((odd.bytes.size() + 3) / 4 * 4, '\0');
  odd.bytes.append(reinterpret_cast<const char*>(&kRecordIoMagic), 4).append("tail");
  std::string file = RecordIoOf({0, 6, 0, 0}, Png(0, 0).bytes);
  file += RecordIoOf({0, 4, 1, 0}, odd.bytes);
  file += RecordIoOf({0, 2, 2, 0}, Png(2, 0).bytes);
  WriteBytes(root / "a.rec", file);
  const auto source = Open("recordio", root / "a.rec");
  EXPECT_EQ(source->facts().count, 3);
  EXPECT_EQ(Read(*source, 0).label, 6);
  EXPECT_EQ(Read(*source, 1).bytes, odd.bytes);
  EXPECT_EQ(Read(*source, 1).label, 4);
  EXPECT_EQ(Read(*source, 2).bytes, Png(2, 0).bytes);
  WriteBytes(root / "a.rec", file.substr(0, file.size() - 5));
  EXPECT_THAT(ErrorOf("recordio", root / "a.rec"), HasSubstr("the file is truncated"));
  WriteBytes(root / "a.rec", RecordIoOf({0, 0.5f, 0, 0}, Png(0, 0).bytes));
  EXPECT_THAT(ErrorOf("recordio", root / "a.rec"), HasSubstr("the label 0.5 is no class number"));
}

TEST_F(SampleSourceTest, ThreadsReadTheSameSamples) {
  std::vector<std::string> datums;
  for (int64_t n = 0; n < 64; ++n) datums.push_back(DatumBytes({1, 4, 4}, n, n));
  WriteLmdb(root / "db", datums);
  WriteIdx(root / "idx", 64, 4, 64);
  for (const auto& [format, path] : {std::pair("lmdb", root / "db"), {"mnist", root / "idx"}}) {
    const auto source = Open(format, path);
    std::atomic<int> wrong{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
          for (int64_t i = 0; i < 64; ++i) {
            const StoredSample sample = Read(*source, i);
            wrong += sample.bytes != Ramp(i, 16) || sample.label != i;
          }
        });
    }
    EXPECT_EQ(wrong, 0) << format;
  }
}

TEST_F(SampleSourceTest, TheFormatIsDetectedFromNames) {
  WriteIdx(root / "idx", 1, 2, 1);
  WriteBytes(root / "c10/data_batch_1.bin", "");
  WriteBytes(root / "c100/train.bin", "");
  WriteBytes(root / "db/data.mdb", "");
  WriteBytes(root / "reviews/train/neg/a.txt", "");
  WriteBytes(root / "reviews/train/pos/a.txt", "");
  WriteBytes(root / "images/carp/a.jpg", "");
  WriteBytes(root / "t.csv.gz", "");
  for (const auto& [name, format] :
       std::vector<std::pair<std::string, std::string>>{{"idx", "mnist"},
                                                        {"idx/train-images-idx3-ubyte", "mnist"},
                                                        {"c10", "cifar10"},
                                                        {"c100", "cifar100"},
                                                        {"db", "lmdb"},
                                                        {"reviews", "imdb"},
                                                        {"reviews/train", "imdb"},
                                                        {"images", "folder"},
                                                        {"t.csv.gz", "csv"}})
    EXPECT_EQ(*DetectFormat(root / name), format) << name;
  EXPECT_THAT(DetectFormat(root / "images/carp").error().message, HasSubstr("write FORMAT:"));
  EXPECT_FALSE(DetectFormat(root / "absent").ok());
  EXPECT_THAT(OpenSource("mnits", root).error().message, HasSubstr("did you mean 'mnist'?"));
}

}  // namespace
}  // namespace tench::sample_source_test
