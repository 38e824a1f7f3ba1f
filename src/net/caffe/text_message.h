// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parses the protobuf text format and keeps source locations: the line of every field, the fields
// that the schema does not know, and errors as origin:line:column. Wraps protobuf's TextFormat
// parser; deep nesting, which would overflow its stack, is rejected first.

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
  std::string message;  // from protobuf
};

struct MessagePlaces {
  std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> tree;
  std::vector<UnknownField> unknown;  // in the order of the text
};

// The size limit for a network or solver file.
inline constexpr size_t kMostTextBytes = size_t{64} << 20;

// On error, `into` holds the fields before the error.
Result<MessagePlaces> ParseMessageText(std::string_view text, std::string_view origin,
                                       google::protobuf::Message& into);

// The line of element `index` of field `name` in the message that `tree` describes; 0 if the text
// does not have it.
int LineOf(const google::protobuf::TextFormat::ParseInfoTree* tree,
           const google::protobuf::Message& message, const char* name, int index = -1);

// The shortest decimal that rounds to the float, as a double: 0.01f gives 0.01, not 0.0099999998.
// Caffe's files hold floats, tench's networks doubles.
double DecimalOf(float value);

}  // namespace tench
