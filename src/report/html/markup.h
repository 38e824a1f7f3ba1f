// SPDX-License-Identifier: Apache-2.0
#pragma once
// Escaping. Every stored text (network, path, log line, worker name) passes through one of these
// functions before it is written to the page.
// Thread safety: pure functions.

#include <string>
#include <string_view>

#include "base/json.h"

namespace tench {

// For element content and quoted attributes. Control characters become blanks (row_text.h).
std::string HtmlText(std::string_view text);

// JSON for the content of a <script> element. It cannot close the element, open a comment or end a
// line of JavaScript (U+2028, U+2029), and parses to the same value.
std::string ScriptJson(const Json& json);

}  // namespace tench
