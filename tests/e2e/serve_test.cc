// SPDX-License-Identifier: Apache-2.0
// `tench serve` with real HTTP requests: it waits for a sweep, follows it, refuses other sites, and
// ends with Ctrl-C.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "store/store.h"

namespace tench::serve_test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int64_t kSecondNs = 1'000'000'000;

// Two runs of about a second each.
constexpr const char* kSuite =
    "name: live\n"
    "rounds: 2\n"
    "worker: fake\n"
    "network: mlp\n"
    "batch: 4\n"
    "option.step_ms: 10\n"
    "threads: 1\n"
    "warmup: 0\n"
    "steps: 250\n";

// A child process with its stdout in a pipe.
struct Child {
  pid_t pid = -1;
  Fd output;

  // All of stdout until `end` or the end of the stream.
  std::string ReadUntil(char end) const {
    std::string text;
    for (char c = 0; text.find(end) == std::string::npos && read(output.get(), &c, 1) == 1;)
      text += c;
    return text;
  }
  // The exit code; 128 + signal; -1 if it still runs after ten seconds.
  int Wait() {
    const int64_t deadline_ns = NowNs() + 10 * kSecondNs;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (NowNs() > deadline_ns) return -1;
      usleep(10'000);
    }
    pid = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
};

class ServeTest : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path worker = folder_.path() / "workers" / "tench-worker-fake";
    fs::create_directory(worker.parent_path());
    fs::create_symlink(fs::path(TENCH_SOURCE_DIR) / "tests/e2e/fake_worker.py", worker);
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / "live.yaml", kSuite).ok());
    ASSERT_TRUE(Store::Open(database_, Store::Mode::kReadWrite).ok());
  }

  void TearDown() override {
    for (Child* child : {&serve_, &sweep_}) {
      if (child->pid <= 0) continue;
      kill(child->pid, SIGKILL);
      child->Wait();
    }
  }

  Child Start(const std::vector<std::string>& arguments) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    Child child;
    child.pid = fork();
    if (child.pid == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      if (chdir(folder_.path().c_str()) != 0 || freopen("log.txt", "a", stderr) == nullptr)
        _exit(99);
      setenv("TENCH_WORKER_PATH", (folder_.path() / "workers").c_str(), 1);
      setenv("TMPDIR", folder_.path().c_str(), 1);
      const std::string tench = std::string(TENCH_BIN_DIR) + "/tench";
      std::vector<char*> argv = {const_cast<char*>("tench")};
      for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      execv(tench.c_str(), argv.data());
      _exit(97);
    }
    close(ends[1]);
    child.output = Fd(ends[0]);
    return child;
  }

  void StartServe() {
    serve_ = Start({"serve", "r.db", "--port", "0", "--title", "nightly"});
    const std::string address = serve_.ReadUntil('\n');
    ASSERT_THAT(address, StartsWith("http://127.0.0.1:")) << Log();
    port_ = std::stoi(address.substr(std::string("http://127.0.0.1:").size()));
    host_ = fmt::format("Host: 127.0.0.1:{}\r\n", port_);
  }

  std::string Log() { return *ReadFile(folder_.path() / "log.txt"); }

  Fd Connect() {
    Fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return client;
  }

  // The whole answer to "METHOD PATH" with these header lines.
  std::string Ask(const std::string& line, const std::string& headers) {
    const Fd client = Connect();
    const std::string request = line + " HTTP/1.1\r\n" + headers + "\r\n";
    EXPECT_EQ(write(client.get(), request.data(), request.size()),
              static_cast<ssize_t>(request.size()));
    std::string answer;
    char buffer[65536];
    for (ssize_t size = 0; (size = read(client.get(), buffer, sizeof buffer)) > 0;)
      answer.append(buffer, static_cast<size_t>(size));
    return answer;
  }

  static std::string BodyOf(const std::string& answer) {
    const size_t end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
  }

  Json Live() {
    const std::string answer = Ask("GET /live", host_);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 ")) << Log();
    return Json::parse(BodyOf(answer), nullptr, false);
  }

  // The first state that `accept` accepts, or the last one within 20 seconds.
  template <class Accept>
  Json LiveWhen(const Accept& accept) {
    Json state;
    for (const int64_t deadline_ns = NowNs() + 20 * kSecondNs; NowNs() < deadline_ns;) {
      state = Live();
      if (accept(state)) return state;
      usleep(50'000);
    }
    ADD_FAILURE() << "never seen; the last state is " << state << "\n" << Log();
    return state;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-serve");
  const std::filesystem::path database_ = folder_.path() / "r.db";
  Child serve_, sweep_;
  int port_ = 0;
  std::string host_;
};

TEST_F(ServeTest, WaitsForASweepFollowsItAndEndsWithCtrlC) {
  StartServe();
  EXPECT_EQ(Live()["state"], "waiting");
  const std::string page = Ask("GET /", host_);  // too long for a matcher's message
  EXPECT_NE(page.find("<section id=\"live\""), std::string::npos);
  EXPECT_NE(page.find("<title>nightly"), std::string::npos);

  sweep_ = Start({"sweep", "live.yaml", "--db", "r.db", "--no-verify", "--no-sentinel"});
  const Json first = LiveWhen([](const Json& state) {
    return state["state"] == "running" && state.contains("run") &&
           state["run"]["losses"].size() > 1;
  });
  EXPECT_EQ(first["total"], 2);
  EXPECT_EQ(first["rounds"], 2);
  EXPECT_EQ(first["run"]["worker"], "fake");
  EXPECT_EQ(first["run"]["network"], "mlp");
  EXPECT_EQ(first["run"]["stage"], "measuring");
  // A ranking of the first run while the second one is measured.
  const Json second = LiveWhen([](const Json& state) { return state["done"] == 1; });
  EXPECT_EQ(second["state"], "running");
  EXPECT_GT(second["version"].get<int>(), first["version"].get<int>());
  const Json summary = Json::parse(BodyOf(Ask("GET /summary", host_)));
  EXPECT_THAT(summary["parts"]["live-ranking"].get<std::string>(), HasSubstr("fake 1.2.3"));

  const Json last = LiveWhen([](const Json& state) { return state["state"] == "complete"; });
  EXPECT_EQ(last["done"], 2);
  EXPECT_EQ(sweep_.Wait(), 0) << Log();
  EXPECT_FALSE(std::filesystem::exists(database_.string() + "-live-1"));
  EXPECT_THAT(Ask("GET /", host_), HasSubstr("live on "));

  // A client that sends nothing must not hold up the end.
  const Fd idle = Connect();
  kill(serve_.pid, SIGINT);
  EXPECT_EQ(serve_.Wait(), 0) << Log();
}

TEST_F(ServeTest, ASweepThatWasKilledIsNotShownAsRunning) {
  sweep_ = Start({"sweep", "live.yaml", "--db", "r.db", "--no-verify", "--no-sentinel"});
  StartServe();
  LiveWhen([](const Json& state) { return state["state"] == "running"; });
  kill(sweep_.pid, SIGKILL);
  EXPECT_EQ(sweep_.Wait(), 128 + SIGKILL);
  const Json state = LiveWhen([](const Json& now) { return now["state"] != "running"; });
  EXPECT_EQ(state["state"], "stopped");
  EXPECT_EQ(state["total"], 2);
}

TEST_F(ServeTest, AnswersThisMachineAloneAndOnlyReads) {
  StartServe();
  const std::string page = Ask("GET /", fmt::format("Host: localhost:{}\r\n", port_));
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(page, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(page, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("Access-Control-")));
  for (const std::string& headers :
       {std::string(), std::string("Host: evil.example\r\n"), std::string("Host: 127.0.0.1\r\n"),
        fmt::format("Host: evil.example:{}\r\n", port_), host_ + host_,
        host_ + "Origin: http://evil.example\r\n", host_ + "Origin: null\r\n",
        host_ + "Sec-Fetch-Site: cross-site\r\n", host_ + "Sec-Fetch-Site: same-site\r\n"}) {
    for (const char* path : {"/", "/live", "/summary", "/nothing"}) {
      const std::string answer = Ask(std::string("GET ") + path, headers);
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 ")) << path << " " << headers;
      EXPECT_THAT(answer, Not(HasSubstr("Access-Control-"))) << headers;
      EXPECT_LT(BodyOf(answer).size(), 100u) << headers;
    }
  }
  EXPECT_THAT(Ask("GET /nothing", host_), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("GET /../etc/passwd", host_), StartsWith("HTTP/1.1 404 "));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    EXPECT_THAT(Ask(std::string(method) + " /live", host_ + "Content-Length: 0\r\n"),
                StartsWith("HTTP/1.1 405 "))
        << method;
  }
  EXPECT_EQ(BodyOf(Ask("HEAD /live", host_)), "");
  EXPECT_THAT(Ask("no request at all", ""), AnyOf("", StartsWith("HTTP/1.1 4")));
  EXPECT_EQ(Live()["state"], "waiting") << "it goes on after bad requests";

  // /proc/net/tcp: the local address in hexadecimal, then state 0A = LISTEN.
  std::ifstream sockets("/proc/net/tcp");
  int listening = 0;
  for (std::string line; std::getline(sockets, line);) {
    if (line.find(fmt::format(":{:04X} 00000000:0000 0A", port_)) == std::string::npos) continue;
    ++listening;
    EXPECT_THAT(line, HasSubstr(fmt::format(" 0100007F:{:04X} ", port_)));
  }
  EXPECT_EQ(listening, 1);
}

TEST_F(ServeTest, APortInUseIsOneLine) {
  StartServe();
  Child other = Start({"serve", "r.db", "--port", std::to_string(port_)});
  EXPECT_EQ(other.Wait(), 2);
  EXPECT_THAT(Log(), HasSubstr(fmt::format("tench: --port: 127.0.0.1:{}: Address already in use "
                                           "(--port 0 takes a free port)\n",
                                           port_)));
}

}  // namespace
}  // namespace tench::serve_test
