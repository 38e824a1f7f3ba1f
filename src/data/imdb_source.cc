// SPDX-License-Identifier: Apache-2.0
// The IMDB reviews of Maas et al. 2011: a folder with neg/ and pos/ of text files, or the folder
// above it with train/ and test/; review_ids_source.cc reads .npz files. Word ids are ranks: 0 is
// padding, 1 is every word outside of the vocabulary, and 2, 3, … are the words of the training
// reviews by falling frequency, equal ones in the order of their bytes.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/file.h"
#include "data/sample_source.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr int32_t kUnknownWord = 1, kFirstWord = 2;
constexpr size_t kMaxReviewBytes = size_t{16} << 20;
constexpr const char* kClassNames[] = {"neg", "pos"};

struct Review {
  fs::path path;
  int64_t label;
};

// Calls `use` for every word: a run of letters, digits, apostrophes and bytes outside of ASCII, in
// lower case. "<br />" is the only markup of the files.
template <class Use>
void ForEachWord(std::string_view text, const Use& use) {
  std::string word;
  for (size_t i = 0; i <= text.size(); ++i) {
    const auto c = static_cast<unsigned char>(i < text.size() ? text[i] : ' ');
    if (c >= 0x80 || c == '\'' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')) {
      word.push_back(static_cast<char>(c));
    } else if (c >= 'A' && c <= 'Z') {
      word.push_back(static_cast<char>(c - 'A' + 'a'));
    } else {
      if (!word.empty()) use(word);
      word.clear();
      if (text.substr(i).starts_with("<br />")) i += 5;
    }
  }
}

bool HasClasses(const fs::path& folder) {
  return fs::is_directory(folder / "neg") && fs::is_directory(folder / "pos");
}

Result<std::vector<Review>> ListReviews(const fs::path& folder) {
  std::vector<Review> reviews;
  for (int64_t label = 0; label < 2; ++label) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder / kClassNames[label])) {
      if (entry.is_regular_file() && entry.path().extension() == ".txt")
        paths.push_back(entry.path());
    }
    if (paths.empty()) return Failed("{}: no .txt files", (folder / kClassNames[label]).string());
    std::sort(paths.begin(), paths.end());
    for (fs::path& path : paths) reviews.push_back({std::move(path), label});
  }
  return reviews;
}

using Vocabulary = std::unordered_map<std::string, int32_t>;

Result<Vocabulary> CountWords(const std::vector<Review>& reviews, int64_t vocabulary) {
  std::map<std::string, int64_t> counts;
  for (const Review& review : reviews) {
    const std::string text = TENCH_TRY(ReadFile(review.path, kMaxReviewBytes));
    ForEachWord(text, [&](const std::string& word) { ++counts[word]; });
  }
  std::vector<std::pair<std::string, int64_t>> ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Vocabulary words;
  const auto kept = static_cast<size_t>(std::max<int64_t>(0, vocabulary - kFirstWord));
  for (size_t rank = 0; rank < std::min(kept, ranked.size()); ++rank)
    words.emplace(ranked[rank].first, kFirstWord + static_cast<int32_t>(rank));
  return words;
}

class ImdbSource : public SampleSource {
 public:
  ImdbSource(std::vector<Review> reviews, Vocabulary words, int64_t vocabulary,
             const std::vector<Review>& trained_on)
      : reviews_(std::move(reviews)), words_(std::move(words)) {
    facts_.format = "imdb";
    facts_.count = static_cast<int64_t>(reviews_.size());
    facts_.classes = 2;
    facts_.vocabulary = vocabulary;
    facts_.class_names = {kClassNames[0], kClassNames[1]};
    for (const Review& review : reviews_) facts_.files.push_back(review.path);
    for (const Review& review : trained_on) facts_.files.push_back(review.path);
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const Review& review = reviews_[static_cast<size_t>(index)];
    const std::string text = TENCH_TRY(ReadFile(review.path, kMaxReviewBytes));
    sample.form = SampleForm::kWords;
    sample.label = review.label;
    sample.words.clear();
    ForEachWord(text, [&](const std::string& word) {
      const auto found = words_.find(word);
      sample.words.push_back(found != words_.end() ? found->second : kUnknownWord);
    });
    if (sample.words.empty())
      return Failed("{}: offset 0: the review has no words", review.path.string());
    return Ok();
  }

  std::string Where(int64_t index) const override {
    return reviews_[static_cast<size_t>(index)].path.string();
  }

 private:
  std::vector<Review> reviews_;
  Vocabulary words_;
};

}  // namespace

OpenedSource OpenImdb(const fs::path& path, const SourceOptions& options) {
  if (fs::is_regular_file(path)) return OpenReviewIds(path, options);
  if (options.test_split && HasClasses(path))
    return Failed("{}: split=test needs the folder above, with train/ and test/", path.string());
  const std::string split = options.test_split ? "test" : "train";
  const fs::path folder = HasClasses(path) ? path : path / split;
  if (!HasClasses(folder))
    return Failed("{}: neither neg/ and pos/ nor {}/neg/ and {}/pos/ in this folder", path.string(),
                  split, split);
  std::vector<Review> reviews = TENCH_TRY(ListReviews(folder));
  // The vocabulary of a test split is that of the training split beside it.
  const fs::path beside = fs::weakly_canonical(folder).parent_path() / "train";
  std::error_code ignored;
  const bool own = !HasClasses(beside) || fs::equivalent(beside, folder, ignored);
  const std::vector<Review> trained_on =
      own ? std::vector<Review>() : TENCH_TRY(ListReviews(beside));
  Vocabulary words = TENCH_TRY(CountWords(own ? reviews : trained_on, options.vocabulary));
  return OpenedSource(std::make_unique<ImdbSource>(std::move(reviews), std::move(words),
                                                   options.vocabulary, trained_on));
}

}  // namespace tench
