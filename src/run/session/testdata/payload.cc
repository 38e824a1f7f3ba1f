// SPDX-License-Identifier: Apache-2.0
// A shared library without content: worker_build_test.cc has a worker load it.
extern "C" int TenchPayload() { return 1; }
