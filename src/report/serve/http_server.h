// SPDX-License-Identifier: Apache-2.0
#pragma once
// A web server on 127.0.0.1: sockets, threads and HTTP's syntax, by Debian's cpp-httplib. Every
// request goes to one handler; not aware of paths or of what is served.
//
// Ownership: the server owns its threads, and the destructor ends them.
// Thread safety: the handler is called from several threads at once. All else belongs to one
// thread.

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "report/serve/request_guard.h"

namespace tench {

struct HttpAnswer {
  int status = 200;
  std::string type, body;
};

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const RequestHead&)>;

  // Listens on the port (0 = any free one). Requests wait until Start.
  static Result<std::unique_ptr<HttpServer>> Bind(int port);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  int port() const;
  void Start(Handler handler);
  // Requests in progress are answered first, which takes at most a second or so.
  void Stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tench
