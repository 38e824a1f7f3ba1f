// SPDX-License-Identifier: Apache-2.0
#include "chromium.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/clock.h"

namespace tench {
namespace {

// Of all calls together. It is below the timeout of the tests, whose message would say less.
constexpr int64_t kLimitNs = 240'000'000'000;
constexpr int64_t kGraceNs = 5'000'000'000;
constexpr auto kRetry = std::chrono::milliseconds(200);

// DevTools reads requests from descriptor 3 and writes answers to descriptor 4, each ended by a
// zero byte.
constexpr const char* kLaunch =
    "exec chromium --headless=new --no-sandbox --disable-gpu --no-first-run "
    "--remote-debugging-pipe \"$@\" about:blank 3<&0 4>&1 </dev/null >/dev/null";

// DevTools' code while a page is being replaced: it has no context to evaluate in.
constexpr const char* kNoContext = "\"code\":-32000";

}  // namespace

bool Chromium::Installed() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

Result<std::unique_ptr<Chromium>> Chromium::Start(int width, int height,
                                                  const std::vector<std::string>& flags) {
  TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-browser"));
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0) return Failed("no pipe to the browser");
  Fd to_in(to[0]), to_out(to[1]);
  if (pipe2(from, O_CLOEXEC) != 0) return Failed("no pipe from the browser");
  Fd from_in(from[0]), from_out(from[1]);
  const Fd log(
      open((folder.path() / "stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  SpawnOptions options;
  options.executable = "/bin/sh";
  options.arguments = {"-c", kLaunch, "sh",
                       "--user-data-dir=" + (folder.path() / "profile").string()};
  options.arguments.insert(options.arguments.end(), flags.begin(), flags.end());
  for (const char* name : {"PATH", "TMPDIR"}) {
    if (const char* value = std::getenv(name)) options.environment.emplace_back(name, value);
  }
  options.environment.emplace_back("HOME", folder.path().string());
  options.input_fd = to_in.get();
  options.output_fd = from_out.get();
  options.error_fd = log.get();
  std::signal(SIGPIPE, SIG_IGN);  // a browser that ended is an error of the next call
  Subprocess process = TENCH_TRY(Subprocess::Spawn(options));
  std::unique_ptr<Chromium> browser(
      new Chromium(std::move(folder), std::move(process), std::move(to_out), std::move(from_in)));
  to_in.Close();
  from_out.Close();
  TENCH_TRY(browser->Attach(width, height));
  return browser;
}

Chromium::~Chromium() {
  // Ended first, since a browser writes to its profile while it ends.
  process_.End(kGraceNs);
}

Status Chromium::Attach(int width, int height) {
  deadline_ns_ = NowNs() + kLimitNs;
  const Json target = TENCH_TRY(Call("Target.createTarget", {{"url", "about:blank"}}));
  const Json session = TENCH_TRY(
      Call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}}));
  session_ = session["sessionId"];
  TENCH_TRY(Call("Page.enable"));  // RunEarly has no effect without it
  TENCH_TRY(
      Call("Emulation.setDeviceMetricsOverride",
           {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}}));
  return Ok();
}

Status Chromium::RunEarly(const std::string& script) {
  TENCH_TRY(Call("Page.addScriptToEvaluateOnNewDocument", {{"source", script}}));
  return Ok();
}

Status Chromium::Open(const std::string& address) {
  while (true) {
    const Json answer = TENCH_TRY(Call("Page.navigate", {{"url", address}}));
    if (!answer.contains("errorText")) break;
    if (NowNs() > deadline_ns_) return Failed("{}: {}", address, answer["errorText"].dump());
    std::this_thread::sleep_for(kRetry);
  }
  return Await("document.readyState === 'complete'");
}

Result<Json> Chromium::Evaluate(const std::string& expression) {
  const Json answer = TENCH_TRY(
      Call("Runtime.evaluate",
           {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}}));
  if (answer.contains("exceptionDetails"))
    return Failed("{}: {}", expression.substr(0, 200), answer["exceptionDetails"].dump());
  const Json& result = answer["result"];
  return result.contains("value") ? result["value"] : Json(nullptr);
}

Status Chromium::Await(const std::string& condition) {
  while (true) {
    const Result<Json> met = Evaluate(fmt::format("Boolean({})", condition));
    if (met.ok() && *met == Json(true)) return Ok();
    if (!met.ok() && met.error().message.find(kNoContext) == std::string::npos) return met.error();
    if (NowNs() > deadline_ns_) {
      const Result<Json> text = Evaluate("document.body.innerText");
      return Failed("never came true: {}; the page: {}", condition,
                    text.ok() ? text->dump() : text.error().message);
    }
    std::this_thread::sleep_for(kRetry);
  }
}

Result<std::string> Chromium::Text() {
  const Json text = TENCH_TRY(Evaluate("document.body.innerText"));
  return text.get<std::string>();
}

Result<std::string> Chromium::Screenshot() {
  const Json answer = TENCH_TRY(Call("Page.captureScreenshot", {{"format", "png"}}));
  return answer["data"].get<std::string>();
}

Result<Json> Chromium::Call(const std::string& method, Json parameters) {
  Json request = {{"id", ++last_id_}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) request["sessionId"] = session_;
  const std::string text = request.dump() + '\0';
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(to_.get(), text.data() + at, text.size() - at);
    if (written < 0) return Broken(method);
    at += static_cast<size_t>(written);
  }
  // Between a request and its answer come events, which have no id.
  while (true) {
    const std::string message = TENCH_TRY(Receive().In(method));
    Json answer = Json::parse(message);
    if (answer.value("id", int64_t{0}) != last_id_) continue;
    if (answer.contains("error")) return Failed("{}: {}", method, answer["error"].dump());
    return std::move(answer["result"]);
  }
}

Result<std::string> Chromium::Receive() {
  while (true) {
    if (const size_t end = received_.find('\0'); end != std::string::npos) {
      std::string message = received_.substr(0, end);
      received_.erase(0, end + 1);
      return message;
    }
    // A call that begins after the limit still gets the answer that is on its way.
    const int64_t left_ns = std::max<int64_t>(kGraceNs, deadline_ns_ - NowNs());
    pollfd ready = {from_.get(), POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(left_ns / 1'000'000)) <= 0)
      return Broken("the browser did not answer");
    char buffer[65536];
    const ssize_t size = read(from_.get(), buffer, sizeof buffer);
    if (size <= 0) return Broken("the browser ended");
    received_.append(buffer, static_cast<size_t>(size));
  }
}

Error Chromium::Broken(std::string_view what) const {
  const Result<std::string> log = ReadFile(folder_.path() / "stderr");
  return Failed("{}; its messages: {}", what, log.ok() ? log->substr(0, 2000) : "none");
}

}  // namespace tench
