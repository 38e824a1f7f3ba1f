// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text that is safe inside a page. Whatever a network, a path, a log or a worker calls itself goes
// through one of these two before it is written. Pure.

#include <string>
#include <string_view>

#include "base/json.h"

namespace tench {

// For element content and quoted attributes. Control characters become blanks, as in row_text.h.
std::string HtmlText(std::string_view text);

// JSON for the inside of a <script> element: nothing in it can close the element, open a comment or
// end a line of JavaScript (U+2028, U+2029), and it still parses to the same value.
std::string ScriptJson(const Json& json);

}  // namespace tench
