// Goal:   no bytes crash the readers of HTTP replies and etcd's answers or make them hold more than
//         the limit, and the result does not depend on the pieces in which the bytes arrive.
// Method: the first byte selects whether the rest is a reply, and its piece sizes, or the input of
//         one of the etcd readers. A reply in pieces must give the same result as the whole reply.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/cluster/store/etcd/message.h"
#include "trireme/net/http/http_reply.h"

using trireme::Error;
using trireme::ErrorCode;
using trireme::net::HttpReply;

namespace etcd = trireme::cluster::etcd;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

struct Outcome {
  std::optional<ErrorCode> error{};
  bool is_whole = false;
  bool has_head = false;
  int status = 0;
  std::size_t used = 0;
  std::string body{};

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome read(std::string_view bytes, std::size_t piece) {
  HttpReply reply;
  Outcome out;
  try {
    while (out.used < bytes.size() && !reply.is_whole()) {
      const std::string_view next = bytes.substr(out.used, piece);
      const std::size_t used = reply.feed(next);
      require(used <= next.size() && (used == next.size() || reply.is_whole()));
      out.used += used;
      out.body += reply.take_body();
      require(reply.body_size() == 0 && out.body.size() <= out.used);
    }
    if (!reply.is_whole()) reply.feed_end();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol || error.code() == ErrorCode::PeerLost);
    out.error = error.code();
    // The state at which it was rejected depends on the pieces.
    if (out.error == ErrorCode::Protocol) return {.error = out.error};
  }
  out.is_whole = reply.is_whole();
  out.has_head = reply.has_head();
  out.status = reply.status();
  require(out.is_whole || !reply.is_kept_alive());
  return out;
}

void check_etcd(int kind, const std::string& text) {
  try {
    switch (kind) {
      case 0:
        etcd::read_range(text);
        break;
      case 1:
        etcd::read_txn(text);
        break;
      case 2:
        etcd::read_grant(text);
        break;
      case 3:
        etcd::read_keep_alive(text);
        break;
      case 4:
        etcd::read_watch(text);
        break;
      default:
        require(!etcd::read_refusal(503, text).error.message().empty());
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] >= 128) {
    check_etcd(data[0] % 6, std::string(rest));
  } else {
    require(read(rest, 1 + data[0] % 16) == read(rest, std::max<std::size_t>(rest.size(), 1)));
  }
  return 0;
}
