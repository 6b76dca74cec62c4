#include "trireme/net/listener.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

// The kernel limits it to net.core.somaxconn.
constexpr int kBacklog = 4096;

Error cannot_listen(const Address& address, int error_number) {
  return system_error("cannot listen at " + address.to_text(), error_number);
}

// Serializes processes that create the same socket, from the check that no process listens until
// this one does. The lock file exists only during that time; a file left by a killed process is
// taken over and removed by the next one.
class MakersLock {
 public:
  explicit MakersLock(const std::string& socket_path) : path_(socket_path + ".lock") {
    const Deadline deadline = Deadline::after(2s);
    while (!try_take()) {
      if (deadline.is_past()) {
        throw Error(ErrorCode::Io, "another process keeps " + path_ + " locked");
      }
      std::this_thread::sleep_for(1ms);
    }
  }
  // Removed while still locked, so that a process that has it open sees that it is gone.
  ~MakersLock() { (void)::unlink(path_.c_str()); }
  MakersLock(const MakersLock&) = delete;
  MakersLock& operator=(const MakersLock&) = delete;

 private:
  bool try_take() {
    file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file_) throw system_error("cannot make " + path_, errno);
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return false;
    struct stat held{};
    struct stat named{};
    return ::fstat(file_.get(), &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  }

  std::string path_;
  Descriptor file_;
};

// Why the existing path must not be replaced, or nothing if it is a dead socket.
std::optional<std::string> claim_of(const Address& address, const SocketAddress& where) {
  struct stat info{};
  if (::lstat(address.path.c_str(), &info) != 0) return std::nullopt;
  if (!S_ISSOCK(info.st_mode)) return "a file that is no socket is there";
  const Socket probe = make_socket(AF_UNIX);
  const auto* raw = reinterpret_cast<const sockaddr*>(&where.storage);
  if (::connect(probe.descriptor(), raw, where.size) == 0 || errno == EAGAIN) {
    return "a live process listens there";
  }
  if (errno == ECONNREFUSED || errno == ENOENT) return std::nullopt;
  return std::string(std::strerror(errno));
}

// The kernel may run with IPv6 disabled.
bool can_make_ipv6() {
  const Descriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket || errno != EAFNOSUPPORT;
}

}  // namespace

Listener::Listener(const Address& address) : address_(address) {
  if (address_.kind == Address::Kind::Tcp) {
    listen_tcp();
  } else {
    listen_unix();
  }
}

void Listener::listen_tcp() {
  int failure = EADDRNOTAVAIL;
  std::vector<SocketAddress> candidates = resolve(address_);
  if (address_.host == "::" && !can_make_ipv6()) {
    candidates = resolve(Address::tcp("0.0.0.0", address_.port));
  }
  for (const SocketAddress& each : candidates) {
    Socket socket = make_socket(each.storage.ss_family);
    const int on = 1;
    (void)setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    const int off = 0;
    (void)setsockopt(socket.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    const auto* raw = reinterpret_cast<const sockaddr*>(&each.storage);
    if (::bind(socket.descriptor(), raw, each.size) == 0 &&
        ::listen(socket.descriptor(), kBacklog) == 0) {
      const SocketAddress local = local_address(socket);
      address_ = Address::tcp(host_of(local), port_of(local));
      socket_ = std::move(socket);
      return;
    }
    failure = errno;
  }
  throw cannot_listen(address_, failure);
}

void Listener::listen_unix() {
  const MakersLock lock(address_.path);
  const SocketAddress where = resolve(address_).front();
  if (const auto claim = claim_of(address_, where)) {
    throw Error(ErrorCode::Io, "cannot listen at " + address_.to_text() + ": " + *claim);
  }
  (void)::unlink(address_.path.c_str());
  Socket socket = make_socket(AF_UNIX);
  // Set before bind, so that the path never exists with a wider mode.
  if (::fchmod(socket.descriptor(), 0600) != 0) throw cannot_listen(address_, errno);
  const auto* raw = reinterpret_cast<const sockaddr*>(&where.storage);
  if (::bind(socket.descriptor(), raw, where.size) != 0) throw cannot_listen(address_, errno);
  struct stat info{};
  if (::lstat(address_.path.c_str(), &info) != 0) throw cannot_listen(address_, errno);
  if (::listen(socket.descriptor(), kBacklog) != 0) {
    const int failure = errno;
    (void)::unlink(address_.path.c_str());
    throw cannot_listen(address_, failure);
  }
  device_ = info.st_dev;
  inode_ = info.st_ino;
  socket_ = std::move(socket);
}

Listener::~Listener() {
  if (address_.kind != Address::Kind::Unix) return;
  struct stat info{};
  if (::lstat(address_.path.c_str(), &info) != 0) return;
  if (info.st_dev == device_ && info.st_ino == inode_) (void)::unlink(address_.path.c_str());
}

Accepted Listener::accept() noexcept {
  int descriptor;
  do {
    descriptor = ::accept4(socket_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  } while (descriptor < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (descriptor < 0) return {.socket = Socket(), .error = errno};
  Accepted out{.socket = Socket(descriptor), .error = 0};
  if (address_.kind == Address::Kind::Tcp) prepare_stream(out.socket);
  return out;
}

}  // namespace trireme::net
