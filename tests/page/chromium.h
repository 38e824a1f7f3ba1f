// SPDX-License-Identifier: Apache-2.0
#pragma once
// One page in headless Chromium, driven by the DevTools protocol over a pipe. Time is real: a call
// waits until the page is ready, and only a page that never is runs into the limit of minutes.
// Virtual time would run ahead of a server whose machine is busy.
// Ownership: owns the browser's processes and its profile folder; the destructor ends them.
// Thread safety: belongs to the thread that called Start.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"

namespace tench {

class Chromium {
 public:
  static bool Installed();
  // `width` and `height` are those of the page's viewport in pixels.
  static Result<std::unique_ptr<Chromium>> Start(int width, int height,
                                                 const std::vector<std::string>& flags = {});
  ~Chromium();
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;

  // `script` runs in every page that is opened from now on, before the page's own scripts.
  Status RunEarly(const std::string& script);
  // Returns after the page's load event. Tries again while nothing answers.
  Status Open(const std::string& address);
  // The value of an expression; that of a promise once it is settled.
  Result<Json> Evaluate(const std::string& expression);
  // Returns once the expression is true.
  Status Await(const std::string& condition);
  // What a reader sees of the page, as text.
  Result<std::string> Text();
  // A PNG file in base64.
  Result<std::string> Screenshot();

 private:
  Chromium(TemporaryFolder folder, Subprocess process, Fd to, Fd from)
      : folder_(std::move(folder)),
        process_(std::move(process)),
        to_(std::move(to)),
        from_(std::move(from)) {}
  Status Attach(int width, int height);
  Result<Json> Call(const std::string& method, Json parameters = Json::object());
  Result<std::string> Receive();
  Error Broken(std::string_view what) const;

  TemporaryFolder folder_;
  Subprocess process_;
  Fd to_, from_;
  std::string received_, session_;
  int64_t last_id_ = 0, deadline_ns_ = 0;
};

}  // namespace tench
