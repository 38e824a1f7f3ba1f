// SPDX-License-Identifier: Apache-2.0
#pragma once
// The addresses of the local page: "/" is the page, "/live" and "/summary" are what its script
// reads. A request that the guard refuses gets one line of plain text.
// Thread safety: as LiveReport.

#include "report/serve/http_server.h"
#include "report/serve/live_report.h"

namespace tench {

HttpAnswer AnswerRequest(const RequestHead& head, int port, LiveReport& report);

}  // namespace tench
