// SPDX-License-Identifier: Apache-2.0
// Tables of numbers, plain or .gz: one row per sample, separated by commas, with the label in the
// last (or first) column. A first row that does not begin with a number is a heading. A row of
// integers from 0 to 255 is read as bytes, so that it can be converted to the formats of images.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "data/byte_file.h"
#include "data/sample_source.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kMaxCsvBytes = int64_t{4} << 30;

class CsvSource : public SampleSource {
 public:
  static OpenedSource Open(const fs::path& path, const SourceOptions& options) {
    auto source = std::unique_ptr<CsvSource>(new CsvSource(options.label_first));
    const ByteFile file = TENCH_TRY(ByteFile::Open(path));
    if (file.size() > kMaxCsvBytes) return file.At(kMaxCsvBytes, "the table is too large");
    source->text_ = TENCH_TRY(file.ReadString(0, static_cast<size_t>(file.size())));
    source->name_ = path.string();
    source->FindRows();
    if (source->rows_.empty()) return file.At(0, "the table has no rows");
    const int64_t columns = std::count(source->Row(0).begin(), source->Row(0).end(), ',');
    if (columns < 1) return file.At(0, "a row needs a value and a label, separated by a comma");
    SourceFacts& facts = source->facts_;
    facts.format = "csv";
    facts.count = static_cast<int64_t>(source->rows_.size());
    facts.shape = options.shape.empty() ? Shape{columns, 1, 1} : options.shape;
    facts.files = {path};
    if (ElementCount(facts.shape) != columns)
      return file.At(0, fmt::format("a row has {} values besides the label, but the shape is {}",
                                    columns, ToString(facts.shape)));
    return OpenedSource(std::move(source));
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const auto columns = static_cast<size_t>(ElementCount(facts_.shape));
    sample.shape = facts_.shape;
    sample.reals.clear();
    bool bytes = true;
    size_t column = 0;
    std::string_view rest = Row(index);
    for (bool more = true; more; ++column) {
      const size_t comma = rest.find(',');
      const std::string_view cell = Trim(rest.substr(0, comma));
      more = comma != std::string_view::npos;
      if (more) rest.remove_prefix(comma + 1);
      const Result<double> value = ParseReal(cell);
      if (!value.ok() || !std::isfinite(*value))
        return Failed("{}: column {}: '{}' is no number", Where(index), column + 1,
                      Printable(cell, 40));
      if (column == (label_first_ ? 0 : columns)) {
        if (*value < 0 || *value > static_cast<double>(kMaxLabel) || *value != std::floor(*value))
          return Failed("{}: column {}: the label {} is no class number", Where(index), column + 1,
                        Printable(cell, 40));
        sample.label = static_cast<int64_t>(*value);
        continue;
      }
      bytes = bytes && *value >= 0 && *value <= 255 && *value == std::floor(*value);
      sample.reals.push_back(static_cast<float>(*value));
    }
    if (column != columns + 1)
      return Failed("{}: {} columns instead of {}", Where(index), column, columns + 1);
    sample.form = bytes ? SampleForm::kBytes : SampleForm::kReals;
    sample.bytes.resize(bytes ? columns : 0);
    for (size_t i = 0; i < sample.bytes.size(); ++i)
      sample.bytes[i] = static_cast<char>(static_cast<unsigned char>(sample.reals[i]));
    return Ok();
  }

  std::string Where(int64_t index) const override {
    return fmt::format("{}: offset {}", name_, rows_[static_cast<size_t>(index)].begin);
  }

 private:
  struct Span {
    size_t begin, size;
  };

  explicit CsvSource(bool label_first) : label_first_(label_first) {}

  void FindRows() {
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::string_view line = std::string_view(text_).substr(begin, end - begin);
      const bool heading = begin == 0 && !ParseReal(Trim(line.substr(0, line.find(',')))).ok();
      if (!heading && !Trim(line).empty()) rows_.push_back({begin, line.size()});
      begin = end + 1;
    }
  }
  std::string_view Row(int64_t index) const {
    const Span& span = rows_[static_cast<size_t>(index)];
    return std::string_view(text_).substr(span.begin, span.size);
  }

  bool label_first_;
  std::string text_, name_;
  std::vector<Span> rows_;
};

}  // namespace

OpenedSource OpenCsv(const fs::path& path, const SourceOptions& options) {
  return CsvSource::Open(path, options);
}

}  // namespace tench
