// SPDX-License-Identifier: Apache-2.0
#include "report/html/markup.h"

#include "report/escape_markup.h"
#include "report/row_text.h"

namespace tench {

std::string HtmlText(std::string_view text) { return EscapeMarkup(PlainLine(text)); }

std::string ScriptJson(const Json& json) {
  const std::string plain = PrintJson(json);
  std::string out;
  out.reserve(plain.size() + plain.size() / 64);
  for (size_t i = 0; i < plain.size(); ++i) {
    const std::string_view rest = std::string_view(plain).substr(i);
    if (plain[i] == '<') {
      out += "\\u003c";
    } else if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      out += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += plain[i];
    }
  }
  return out;
}

}  // namespace tench
