// SPDX-License-Identifier: Apache-2.0
// Reviews as lists of word ids in a .npz file, the form of Keras' imdb.npz: the arrays x_train,
// y_train, x_test and y_test, or x and y alone. Ids are used as stored; those outside of the
// vocabulary become 1. Rows of a matrix are stripped of the padding 0 at both ends.
#include <algorithm>

#include "base/text.h"
#include "data/id_list_array.h"
#include "data/sample_source.h"
#include "data/zip_archive.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kUnknownId = 1;

class ReviewIdsSource : public SampleSource {
 public:
  ReviewIdsSource(const fs::path& path, std::string member, IdLists words, IdLists labels,
                  int64_t vocabulary)
      : path_(path),
        member_(std::move(member)),
        words_(std::move(words)),
        labels_(std::move(labels.ids)) {
    facts_.format = "imdb";
    facts_.count = words_.count();
    for (const int64_t label : labels_) facts_.classes = std::max(facts_.classes, label + 1);
    facts_.vocabulary = vocabulary;
    facts_.files = {path};
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const auto at = static_cast<size_t>(index);
    auto begin = words_.ids.begin() + static_cast<int64_t>(at == 0 ? 0 : words_.ends[at - 1]);
    auto end = words_.ids.begin() + static_cast<int64_t>(words_.ends[at]);
    if (words_.padded) {
      const auto is_word = [](int64_t id) { return id != 0; };
      begin = std::find_if(begin, end, is_word);
      while (end != begin && *(end - 1) == 0) --end;
    }
    if (begin == end) return Failed("{}: the review has no words", Where(index));
    sample.form = SampleForm::kWords;
    sample.label = labels_[at];
    sample.words.clear();
    for (auto id = begin; id != end; ++id) {
      if (*id < 0) return Failed("{}: the word id {} is negative", Where(index), *id);
      sample.words.push_back(static_cast<int32_t>(*id < facts_.vocabulary ? *id : kUnknownId));
    }
    return Ok();
  }

  std::string Where(int64_t index) const override {
    return fmt::format("{}: {}[{}]", path_.string(), member_, index);
  }

 private:
  fs::path path_;
  std::string member_;  // "x_train"
  IdLists words_;
  std::vector<int64_t> labels_;
};

}  // namespace

OpenedSource OpenReviewIds(const fs::path& path, const SourceOptions& options) {
  const std::string file = path.string();
  const ZipArchive archive = TENCH_TRY(ZipArchive::Open(path));
  std::string ending = options.test_split ? "_test" : "_train";
  if (!options.test_split && !archive.Has("x_train.npy") && archive.Has("x.npy")) ending = "";
  const std::string x = "x" + ending, y = "y" + ending;
  for (const std::string& name : {x, y}) {
    if (!archive.Has(name + ".npy"))
      return Failed("{}: no array '{}' (it has: {})", file, name,
                    Printable(Join(archive.Names(), ", ")));
  }
  const auto read = [&](const std::string& name) -> Result<IdLists> {
    const std::string npy = TENCH_TRY(archive.Read(name + ".npy"));
    return ParseIdLists(npy, fmt::format("{}: {}", file, name));
  };
  IdLists words = TENCH_TRY(read(x)), labels = TENCH_TRY(read(y));
  if (words.count() == 0) return Failed("{}: {} is empty", file, x);
  if (labels.count() != words.count() || labels.ids.size() != labels.ends.size())
    return Failed("{}: {} must have one label for each of the {} lists of {}", file, y,
                  words.count(), x);
  for (size_t i = 0; i < labels.ids.size(); ++i) {
    if (labels.ids[i] < 0 || labels.ids[i] > kMaxLabel)
      return Failed("{}: {}[{}]: {} is no class number", file, y, i, labels.ids[i]);
  }
  return OpenedSource(std::make_unique<ReviewIdsSource>(path, x, std::move(words),
                                                        std::move(labels), options.vocabulary));
}

}  // namespace tench
