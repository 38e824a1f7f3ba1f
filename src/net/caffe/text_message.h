// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text to message with places: where every field stands, which fields the schema does not know, and
// errors as origin:line:column. protobuf's own parser does the work; what it would not survive or
// would take too long over is refused before it starts.

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

// Lines and columns count from 1.
struct UnknownField {
  int line = 0, column = 0;
  std::string message;  // protobuf's words
};

struct MessagePlaces {
  std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> tree;
  std::vector<UnknownField> unknown;  // in the order of the text
};

// A longer text is no network and no solver.
inline constexpr size_t kMostTextBytes = size_t{64} << 20;

// `into` is filled as far as the text goes, even when an error is returned.
Result<MessagePlaces> ParseMessageText(std::string_view text, std::string_view origin,
                                       google::protobuf::Message& into);

// The line of field `name`, number `index` of it, of the message that `tree` describes; 0 if it
// does not stand there.
int LineOf(const google::protobuf::TextFormat::ParseInfoTree* tree,
           const google::protobuf::Message& message, const char* name, int index = -1);

// A float of a text as the shortest decimal that means it: 0.01f is 0.01, and not 0.0099999998.
// Caffe's files hold floats, tench's networks doubles.
double DecimalOf(float value);

}  // namespace tench
