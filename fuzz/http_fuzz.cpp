// Goal:   no bytes crash the readers of HTTP replies and etcd's answers, and the result does not
//         depend on the pieces in which the bytes arrive.
// Method: the first byte selects whether the rest is a reply, and its piece sizes, or the input of
//         one of the etcd readers. A reply whose body arrives in pieces, each after a missed
//         deadline, must give the same result as the whole reply.

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/store/etcd/message.h"
#include "trireme/net/http/http_connection.h"
#include "trireme/net/listener.h"

using namespace trireme;
using namespace std::chrono_literals;

namespace etcd = trireme::cluster::etcd;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr std::size_t kReplyMax = 65536;  // no more than a socket holds

struct Outcome {
  std::optional<ErrorCode> error{};
  int status = 0;
  std::string body{};

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

net::Listener& listener() {
  static const TemporaryFolder folder("http_fuzz");
  static net::Listener listener(net::Address::unix_socket((folder.path() / "s").string()));
  return listener;
}

// The server of one connection: what it says was written before the client asks.
class Server {
 public:
  explicit Server(std::string_view reply) : rest_(reply), socket_(listener().accept().socket) {}

  void say(std::size_t size) {
    const std::string_view piece = rest_.substr(0, size);
    rest_.remove_prefix(piece.size());
    if (!piece.empty()) require(net::send(socket_, bytes_of(piece)).size == piece.size());
    if (rest_.empty()) ::shutdown(socket_.descriptor(), SHUT_WR);
  }
  bool has_said_all() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  net::Socket socket_;
};

// The server says `first` bytes at once, and a piece more whenever the client has read all of it.
// The outcome is Deadline if `first` bytes are not the whole head.
Outcome read(std::string_view bytes, std::size_t first, std::size_t piece) {
  net::HttpConnection connection(listener().address(), Deadline::after(5s));
  Server server(bytes);
  server.say(first);
  Outcome out;
  try {
    out.status = connection.start({.path = "/", .body = "{}", .fields = {}},
                                  Deadline::after(server.has_said_all() ? 5s : 0s));
    for (;;) {
      try {
        const std::string more = connection.read(Deadline::after(0s));
        if (more.empty()) return out;
        out.body += more;
        require(out.body.size() <= bytes.size());
      } catch (const Error& error) {
        if (error.code() != ErrorCode::Deadline) throw;
        require(!server.has_said_all());
        server.say(piece);
      }
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol || error.code() == ErrorCode::PeerLost ||
            (error.code() == ErrorCode::Deadline && !server.has_said_all()));
    // How much was read before depends on the pieces.
    return {.error = error.code()};
  }
}

void check_reply(std::string_view reply, std::size_t piece) {
  const std::size_t head = std::min(reply.find("\r\n\r\n"), reply.size()) + 4;
  const Outcome in_pieces = read(reply, head, piece);
  require(in_pieces.error == ErrorCode::Deadline || in_pieces == read(reply, reply.size(), 0));
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
    check_reply(rest.substr(0, kReplyMax), 1 + data[0] % 16);
  }
  return 0;
}
