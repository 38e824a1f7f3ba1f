// SPDX-License-Identifier: Apache-2.0
// Fuzzes the parser of a comparison's sides with arbitrary bytes. The result is a selection that
// can be matched and compared, or an error of one line.

#include <string_view>

#include "report/run_selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Selection> selection = ParseSelection(text);
  if (!selection.ok()) {
    Check(selection.error().message.find('\n') == std::string::npos,
          "an error has more than one line");
    return 0;
  }
  (void)selection->runs.Matches(RunRecord{});
  Check(ComparedAxes(*selection, *selection).empty(), "a side differs from itself");
  Check(ParseSelection(selection->text).ok(), "the text of a selection does not parse again");
  return 0;
}
