// SPDX-License-Identifier: Apache-2.0
// Fuzzes the protocol's parsers with arbitrary bytes. A message that parses is the same after
// writing and parsing it again.

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/message.h"

namespace {

using tench::Check;

template <class Value, class Parse, class Print>
void CheckRoundTrip(const Value& value, Parse parse, Print print) {
  const std::string line = print(value);
  Check(line.find('\n') == std::string::npos, "a line has a line break inside");
  const auto again = parse(line);
  Check(again.ok(), again.ok() ? "" : "what was printed cannot be read: " + again.error().message);
  Check(print(*again) == line, "what was read again prints otherwise");
}

void CheckError(const tench::Error& error) {
  Check(!error.message.empty(), "an error says nothing");
  Check(error.message.find('\n') == std::string::npos, "an error has more than one line");
}

template <class Parse, class Print>
void Try(std::string_view input, Parse parse, Print print) {
  const auto value = parse(input);
  if (value.ok())
    CheckRoundTrip(*value, parse, print);
  else
    CheckError(value.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto print = [](const auto& value) { return tench::PrintJson(tench::ToJson(value)); };
  const auto parse_job = [](std::string_view text) { return tench::ParseJob(text, "job"); };
  const auto parse_description = [](std::string_view text) {
    return tench::ParseDescription(text, "worker");
  };
  Try(input, tench::ParseMessage, tench::ToLine);
  Try(input, tench::ParseTurn, tench::TurnLine);
  Try(input, parse_job, print);
  Try(input, parse_description, print);
  return 0;
}
