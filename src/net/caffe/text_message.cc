// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/text_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cmath>
#include <limits>

#include "base/text.h"

namespace tench {
namespace {

constexpr int kMaxDepth = 32;  // Caffe's deepest message has five levels

class Collector : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (error_.empty()) error_ = message, line_ = line + 1, column_ = column + 1;
  }
  void AddWarning(int line, google::protobuf::io::ColumnNumber column,
                  const std::string& message) override {
    unknown_.push_back({line + 1, column + 1, message});
  }

  Error ErrorIn(std::string_view origin) const {
    const std::string what =
        error_.empty() ? "the text is not a protobuf message" : Printable(error_);
    return line_ > 0 ? Failed("{}:{}:{}: {}", origin, line_, column_, what)
                     : Failed("{}: {}", origin, what);
  }
  std::vector<UnknownField> TakeUnknown() { return std::move(unknown_); }

 private:
  std::string error_;
  int line_ = 0, column_ = 0;
  std::vector<UnknownField> unknown_;
};

// The parser recurses into nested messages.
Status CheckDepth(std::string_view text, std::string_view origin) {
  int depth = 0, line = 1;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line, quote = 0;
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '{' || c == '<' || c == '[') {
      if (++depth > kMaxDepth)
        return Failed("{}:{}: more than {} levels of nesting", origin, line, kMaxDepth);
    } else if (c == '}' || c == '>' || c == ']') {
      --depth;
    }
  }
  return Ok();
}

}  // namespace

Result<MessagePlaces> ParseMessageText(std::string_view text, std::string_view origin,
                                       google::protobuf::Message& into) {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return Failed("{}: the text is too long", origin);
  TENCH_TRY(CheckDepth(text, origin));
  MessagePlaces places{std::make_unique<google::protobuf::TextFormat::ParseInfoTree>(), {}};
  Collector collector;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.WriteLocationsTo(places.tree.get());
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(2 * kMaxDepth);
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&stream, &into)) return collector.ErrorIn(origin);
  places.unknown = collector.TakeUnknown();
  return places;
}

int LineOf(const google::protobuf::TextFormat::ParseInfoTree* tree,
           const google::protobuf::Message& message, const char* name, int index) {
  if (tree == nullptr) return 0;
  const auto* field = message.GetDescriptor()->FindFieldByName(name);
  Check(field != nullptr, "the schema has no such field");
  return tree->GetLocation(field, index).line + 1;
}

double DecimalOf(float value) {
  if (!std::isfinite(value)) return value;
  return *ParseReal(fmt::format("{}", value));
}

}  // namespace tench
