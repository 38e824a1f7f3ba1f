// SPDX-License-Identifier: Apache-2.0
// Writes the files with libhdf5 itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "base/file.h"
#include "data/sample_source.h"
#include "data/test_data_files.h"

namespace tench::hdf5_source_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

void WriteDataset(hid_t file, const char* name, const std::vector<hsize_t>& sizes,
                  const std::vector<float>& values) {
  const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
  const hid_t data =
      H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  Check(H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0,
        "the test's dataset cannot be written");
  H5Dclose(data);
  H5Sclose(space);
}

void WriteHdf5(const fs::path& path, const std::vector<float>& data,
               const std::vector<float>& labels) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  WriteDataset(file, "data", {labels.size(), 1, 1, data.size() / labels.size()}, data);
  WriteDataset(file, "label", {labels.size()}, labels);
  H5Fclose(file);
}

class Hdf5SourceTest : public testing::Test {
 protected:
  std::string ErrorOf(const fs::path& path) const {
    const OpenedSource source = OpenSource("hdf5", path);
    return source.ok() ? "no error" : source.error().message;
  }
  TemporaryFolder folder = *TemporaryFolder::Make("hdf5-test");
  fs::path root = folder.path();
};

TEST_F(Hdf5SourceTest, ReadsAListOfFilesAsCaffeDoes) {
  WriteHdf5(root / "a.h5", {1, 2, 3, 4}, {0, 5});
  WriteHdf5(root / "b.h5", {5.5f, 6}, {2});
  WriteBytes(root / "list.txt", "a.h5\n" + (root / "b.h5").string() + "\n");
  OpenedSource opened = OpenSource("hdf5", root / "list.txt");
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const auto source = *std::move(opened);
  EXPECT_EQ(source->facts().count, 3);
  EXPECT_EQ(source->facts().classes, 6);
  EXPECT_EQ(source->facts().shape, (Shape{1, 1, 2}));
  StoredSample sample;
  ASSERT_TRUE(source->Read(1, sample).ok());
  EXPECT_THAT(sample.reals, ElementsAre(3, 4));
  EXPECT_EQ(sample.label, 5);
  ASSERT_TRUE(source->Read(2, sample).ok());
  EXPECT_THAT(sample.reals, ElementsAre(5.5f, 6));
  EXPECT_THAT(source->Where(2), HasSubstr("b.h5: row 0 of 'data'"));
  EXPECT_EQ((*OpenSource("hdf5", root / "a.h5"))->facts().count, 2);
}

TEST_F(Hdf5SourceTest, BrokenFilesAreNamed) {
  WriteBytes(root / "a.h5", "no HDF5");
  EXPECT_THAT(ErrorOf(root / "a.h5"), HasSubstr("a.h5: offset 0: not a readable HDF5 file"));
  WriteBytes(root / "list.txt", "absent.h5\n");
  EXPECT_THAT(ErrorOf(root / "list.txt"), HasSubstr("absent.h5"));
  WriteBytes(root / "list.txt", "\n");
  EXPECT_THAT(ErrorOf(root / "list.txt"), HasSubstr("the list names no HDF5 file"));
  WriteHdf5(root / "half.h5", {1, 2}, {0, 0.5f});
  EXPECT_THAT(ErrorOf(root / "half.h5"), HasSubstr("row 1 of 'label': 0.5 is no class number"));
  const hid_t file = H5Fcreate((root / "no.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  WriteDataset(file, "data", {1, 2}, {1, 2});
  H5Fclose(file);
  EXPECT_THAT(ErrorOf(root / "no.h5"), HasSubstr("it has no dataset 'label'"));
  WriteHdf5(root / "wide.h5", {1, 2, 3}, {0});
  WriteHdf5(root / "b.h5", {5, 6}, {2});
  WriteBytes(root / "list.txt", "b.h5\nwide.h5\n");
  EXPECT_THAT(ErrorOf(root / "list.txt"), HasSubstr("rows of 1x1x3, but those before have 1x1x2"));
}

}  // namespace
}  // namespace tench::hdf5_source_test
