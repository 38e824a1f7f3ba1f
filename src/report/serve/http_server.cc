// SPDX-License-Identifier: Apache-2.0
#include "report/serve/http_server.h"

#include <httplib.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/text.h"

namespace tench {
namespace {

constexpr const char* kAddress = "127.0.0.1";
constexpr size_t kThreads = 8;          // a browser opens up to six connections
constexpr size_t kMaxBodyBytes = 1024;  // no request needs one

std::vector<std::string> ValuesOf(const httplib::Request& request, const char* header) {
  std::vector<std::string> values;
  const auto [begin, end] = request.headers.equal_range(header);
  for (auto value = begin; value != end; ++value) values.push_back(value->second);
  return values;
}

void Write(const HttpAnswer& answer, httplib::Response& response) {
  response.status = answer.status;
  if (answer.status == 405) response.set_header("Allow", "GET, HEAD");
  response.set_content(answer.body, answer.type);
}

// No header of CORS: a browser then lets no other site read the answers.
httplib::Headers DefaultHeaders() {
  return {{"Cache-Control", "no-store"},
          {"Content-Security-Policy",
           "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Referrer-Policy", "no-referrer"},
          {"X-Content-Type-Options", "nosniff"}};
}

}  // namespace

class HttpServer::Impl {
 public:
  httplib::Server server;
  std::thread thread;
  int port = 0;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { Stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::Bind(int port) {
  auto impl = std::make_unique<Impl>();
  httplib::Server& server = impl->server;
  // The library's default, SO_REUSEPORT, would let two servers share a port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_payload_max_length(kMaxBodyBytes);
  // A kept connection would delay Stop by its timeout.
  server.set_keep_alive_max_count(1);
  server.set_keep_alive_timeout(1);
  server.set_read_timeout(1);
  server.set_write_timeout(5);
  server.set_default_headers(DefaultHeaders());
  errno = 0;
  impl->port = port == 0                             ? server.bind_to_any_port(kAddress)
               : server.bind_to_port(kAddress, port) ? port
                                                     : -1;
  if (impl->port <= 0) {
    return Failed("{}:{}: {}{}", kAddress, port,
                  errno == 0 ? "cannot be listened on" : std::strerror(errno),
                  errno == EADDRINUSE ? " (--port 0 takes a free port)" : "");
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const { return impl_->port; }

void HttpServer::Start(Handler handler) {
  httplib::Server& server = impl_->server;
  // Before routing, so that every method and path reaches the handler.
  server.set_pre_routing_handler(
      [handler = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
        Write(handler({request.method, request.path, ValuesOf(request, "Host"),
                       ValuesOf(request, "Origin"), ValuesOf(request, "Sec-Fetch-Site")}),
              response);
        return httplib::Server::HandlerResponse::Handled;
      });
  impl_->thread = std::thread([&server] { server.listen_after_bind(); });
  // Stop has no effect before this.
  while (!server.is_running()) std::this_thread::yield();
}

void HttpServer::Stop() {
  if (!impl_->thread.joinable()) return;
  impl_->server.stop();
  impl_->thread.join();
}

}  // namespace tench
