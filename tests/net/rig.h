// Shared by the tests of Client and Server: a secret, credentials for both sides, and a service
// that does everything a service can do.

#pragma once

#include <dirent.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/client.h"
#include "trireme/net/server.h"

namespace trireme::net {

using namespace std::chrono_literals;

inline constexpr std::uint16_t kEcho = 0x0700;    // answers with the payload
inline constexpr std::uint16_t kFail = 0x0701;    // throws an Error with every field
inline constexpr std::uint16_t kThrow = 0x0702;   // throws something else
inline constexpr std::uint16_t kHold = 0x0703;    // keeps the caller without answering
inline constexpr std::uint16_t kCount = 0x0704;   // streams payload.size() items, then ends
inline constexpr std::uint16_t kDrop = 0x0705;    // drops the caller without answering
inline constexpr std::uint16_t kWho = 0x0706;     // answers with the caller's name
inline constexpr std::uint16_t kNobody = 0x6400;  // a method without a service

class EchoService final : public Service {
 public:
  void on_request(const Request& request) override {
    ++requests;
    if (!request.caller) return;
    switch (request.method) {
      case kEcho:
        return request.caller->reply(request.payload);
      case kFail:
        throw Error(ErrorCode::Corrupt, "bad piece").with_rank(3).with_peer(5).with_cause("disk");
      case kThrow:
        throw std::runtime_error("something else");
      case kHold:
        return hold(request.caller);
      case kCount:
        return count(request);
      case kWho:
        return request.caller->reply(bytes_of(request.identity.name));
      default:
        return;
    }
  }
  void on_session_end(SessionId) override { ++sessions_ended; }

  std::vector<std::shared_ptr<Caller>> held() {
    const std::lock_guard lock(mutex_);
    return held_;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held_.clear();
  }

  std::atomic<int> requests = 0;
  std::atomic<int> sessions_ended = 0;

 private:
  void hold(std::shared_ptr<Caller> caller) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(caller));
  }
  static void count(const Request& request) {
    for (std::size_t i = 0; i < request.payload.size(); ++i) {
      request.caller->send_item(bytes_of(std::to_string(i)));
    }
    request.caller->end();
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<Caller>> held_;
};

// A server with an EchoService, and a function that connects a client.
struct Rig {
  Secret secret = Secret::generate();
  SecretCredentials client_credentials{secret, "rank 1"};
  std::shared_ptr<EchoService> service = std::make_shared<EchoService>();
  std::unique_ptr<Server> server;

  explicit Rig(Server::Options options = {}) {
    options.credentials = std::make_shared<SecretCredentials>(secret, "coordinator");
    server = std::make_unique<Server>(std::move(options), Server::Services{{7, service}});
  }

  Client join(std::size_t stream_items_max = 1024) const {
    return Client({.address = server->address(),
                   .credentials = &client_credentials,
                   .stream_items_max = stream_items_max},
                  Deadline::after(60s));
  }
};

// Sanitizers slow down the code by a factor; time limits apply without them.
#ifdef TRIREME_IS_SANITIZED
inline constexpr int kSlowness = 8;
#else
inline constexpr int kSlowness = 1;
#endif

inline Deadline soon() {
  return Deadline::after(60s);
}

// The error that `body` throws.
inline Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::Misuse, "nothing was thrown");
}

// Polls until `condition` holds, for at most ten seconds.
inline bool eventually(const std::function<bool()>& condition) {
  const Deadline deadline = Deadline::after(10s);
  while (!condition()) {
    if (deadline.is_past()) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

inline int open_descriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

}  // namespace trireme::net
