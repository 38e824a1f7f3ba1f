// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides whether the local page answers a request. The page shows results to the user of this
// machine, so the guard keeps other web sites that the user's browser has open from reading them:
//  - The Host header must name this page. A site whose name resolves to 127.0.0.1 (DNS rebinding)
//    sends its own name.
//  - Origin and Sec-Fetch-Site, where a browser sends them, must be those of the page itself or of
//    an address that the user typed. Other ports of localhost are other sites.
//  - Only GET and HEAD are answered, so no request can change anything.
// Not aware of sockets or of HTTP's syntax.
// Thread safety: pure functions.

#include <optional>
#include <string>
#include <vector>

namespace tench {

// The part of a request that the guard reads. A header that occurs several times has several
// values.
struct RequestHead {
  std::string method, path;  // the path is without the query
  std::vector<std::string> host, origin, fetch_site;
};

struct Refusal {
  int status = 0;
  std::string reason;  // one line, without any text of the request
};

// nullopt = the request is answered. `port` is the one that the server listens on.
std::optional<Refusal> CheckRequest(const RequestHead& head, int port);

}  // namespace tench
