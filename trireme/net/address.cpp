#include "trireme/net/address.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

constexpr std::size_t kUnixPathMax = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::string_view kDescriptors = "/proc/self/fd/";
// Leaves room for a descriptor of up to ten digits and the slash after it.
constexpr std::size_t kUnixNameMax = kUnixPathMax - kDescriptors.size() - 10 - 1;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(ErrorCode::InvalidInput,
              "'" + std::string(text) + "' is not an address: " + std::string(why) +
                  "; expected tcp://HOST:PORT, tcp://[IPV6]:PORT or unix:/PATH");
}

// Splits "host:port" or "[v6]:port".
std::pair<std::string_view, std::string_view> split_host(std::string_view text,
                                                         std::string_view rest) {
  if (rest.starts_with('[')) {
    const auto close = rest.find(']');
    if (close == std::string_view::npos) refuse(text, "the '[' is not closed");
    if (rest.substr(close + 1, 1) != ":") refuse(text, "there is no port");
    return {rest.substr(1, close - 1), rest.substr(close + 2)};
  }
  const auto colon = rest.find(':');
  if (colon == std::string_view::npos) refuse(text, "there is no port");
  if (rest.find(':', colon + 1) != std::string_view::npos) {
    refuse(text, "an IPv6 address is written in brackets");
  }
  return {rest.substr(0, colon), rest.substr(colon + 1)};
}

// Hosts appear in messages, files and command lines, so only the characters of names and numeric
// addresses are allowed.
bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= 255 && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '%';
  });
}

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

SocketAddress unix_address(std::string path) {
  SocketAddress out;
  if (path.size() > kUnixPathMax) {
    const auto [folder, name] = split_path(path);
    out.folder = std::make_shared<const Descriptor>(
        ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!*out.folder) {
      throw Error(ErrorCode::Unreachable,
                  "cannot open " + folder + ", the folder of a socket: " + std::strerror(errno));
    }
    path = std::string(kDescriptors) + std::to_string(out.folder->get()) + "/" + name;
  }
  sockaddr_un raw{};
  raw.sun_family = AF_UNIX;
  std::memcpy(raw.sun_path, path.c_str(), path.size() + 1);
  std::memcpy(&out.storage, &raw, sizeof(raw));
  out.size = sizeof(raw);
  return out;
}

std::vector<SocketAddress> ask_host(const Address& address, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int status = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (status != 0) {
    throw Error(ErrorCode::Unreachable,
                "the host name '" + address.host + "' does not resolve: " + gai_strerror(status));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::vector<SocketAddress> out;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    SocketAddress one;
    std::memcpy(&one.storage, each->ai_addr, each->ai_addrlen);
    one.size = each->ai_addrlen;
    out.push_back(one);
  }
  return out;
}

// The addresses found, or the error. The error is not passed as an exception, because an exception
// that crosses threads could be freed by either of them.
struct Answer {
  std::vector<SocketAddress> found;
  std::optional<Error> error;
};

Answer answer_of(const NameResolver& resolver, const Address& name) {
  try {
    return {resolver(name), std::nullopt};
  } catch (const Error& error) {
    return {{}, Error(error.code(), error.message())};
  } catch (const std::exception& error) {
    return {{}, Error(ErrorCode::Unreachable, error.what())};
  }
}

}  // namespace

Address Address::parse(std::string_view text) {
  if (text.starts_with("unix:")) return unix_socket(text.substr(5));
  if (!text.starts_with("tcp://")) refuse(text, "it names no kind");
  const auto [host, port_text] = split_host(text, text.substr(6));
  std::uint16_t port = 0;
  const char* end = port_text.data() + port_text.size();
  const auto [stop, failure] = std::from_chars(port_text.data(), end, port);
  if (failure != std::errc{} || stop != end) refuse(text, "the port is not one of 0 to 65535");
  if (!is_host(host)) refuse(text, "the host is empty or has characters that no host has");
  return tcp(host, port);
}

Address Address::tcp(std::string_view host, std::uint16_t port) {
  if (!is_host(host)) refuse("tcp://" + std::string(host), "the host is empty or malformed");
  Address out;
  out.host = host;
  out.port = port;
  return out;
}

Address Address::unix_socket(std::string_view path) {
  if (path.empty()) refuse("unix:", "the path is empty");
  if (path.find('\0') != std::string_view::npos) refuse("unix:", "the path has a zero byte");
  const std::size_t name_size = path.size() - (path.rfind('/') + 1);  // all if no slash
  if (path.size() >= PATH_MAX || (path.size() > kUnixPathMax && name_size > kUnixNameMax)) {
    throw Error(ErrorCode::InvalidInput,
                "the socket path " + std::string(path) + " has " + std::to_string(path.size()) +
                    " bytes, its file name " + std::to_string(name_size) + "; the kernel accepts " +
                    std::to_string(PATH_MAX - 1) + " and " + std::to_string(kUnixNameMax) +
                    ". Choose a shorter folder or file name.");
  }
  Address out;
  out.kind = Kind::Unix;
  out.path = path;
  return out;
}

std::string Address::to_text() const {
  if (kind == Kind::Unix) return "unix:" + path;
  const bool is_v6 = host.find(':') != std::string::npos;
  return "tcp://" + (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool is_number(const std::string& host) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

std::vector<SocketAddress> resolve(const Address& address, Deadline deadline) {
  return resolve(address, deadline, [](const Address& name) { return ask_host(name, 0); });
}

std::vector<SocketAddress> resolve(const Address& address, Deadline deadline,
                                   NameResolver resolver) {
  if (address.kind == Address::Kind::Unix) {
    // The caller may have filled in the Address without unix_socket(), so check the path here.
    return {unix_address(Address::unix_socket(address.path).path)};
  }
  if (is_number(address.host)) return ask_host(address, AI_NUMERICHOST);
  // A resolver that waits for unreachable DNS servers cannot be interrupted. The thread owns all
  // data it uses, so that the caller does not have to wait for it.
  std::packaged_task<Answer()> task(
      [address, resolver = std::move(resolver)] { return answer_of(resolver, address); });
  std::future<Answer> answer = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::Exhausted, std::string("no thread to resolve with: ") + error.what());
  }
  if (!deadline.is_never() && answer.wait_until(deadline.when()) == std::future_status::timeout) {
    throw Error(ErrorCode::Unreachable,
                "the resolver did not answer in time for the host name '" + address.host + "'");
  }
  Answer got = answer.get();
  if (got.error) throw *got.error;
  return std::move(got.found);
}

std::string host_of(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in raw;
    std::memcpy(&raw, &address.storage, sizeof(raw));
    return inet_ntop(AF_INET, &raw.sin_addr, text, sizeof(text));
  }
  if (address.storage.ss_family != AF_INET6) return {};
  sockaddr_in6 raw;
  std::memcpy(&raw, &address.storage, sizeof(raw));
  if (IN6_IS_ADDR_V4MAPPED(&raw.sin6_addr)) {
    return inet_ntop(AF_INET, raw.sin6_addr.s6_addr + 12, text, sizeof(text));
  }
  return inet_ntop(AF_INET6, &raw.sin6_addr, text, sizeof(text));
}

std::uint16_t port_of(const SocketAddress& address) {
  // The port has the same offset in both address families.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  if (address.storage.ss_family != AF_INET && address.storage.ss_family != AF_INET6) return 0;
  sockaddr_in raw;
  std::memcpy(&raw, &address.storage, sizeof(raw));
  return ntohs(raw.sin_port);
}

}  // namespace trireme::net
