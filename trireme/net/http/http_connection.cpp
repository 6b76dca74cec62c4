#include "trireme/net/http/http_connection.h"

#include <poll.h>

#include <array>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::net {
namespace {

std::string head_of(const std::string& host, const HttpConnection::Request& request) {
  std::string head = "POST ";
  head.append(request.path).append(" HTTP/1.1\r\nHost: ").append(host);
  head += "\r\nContent-Type: application/json\r\nContent-Length: ";
  head += std::to_string(request.body.size());
  head.append("\r\n").append(request.fields).append("\r\n");
  return head;
}

std::string host_text(const Address& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace

HttpConnection::HttpConnection(const Address& address, Deadline deadline)
    : host_(host_text(address)), socket_(connect_any(resolve(address, deadline), deadline)) {}

bool HttpConnection::can_go_on() const noexcept {
  if (!is_idle_) return false;
  // The server has no reason to send anything now, so readable data means that the connection
  // ended.
  pollfd entry{.fd = socket_.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 0;
}

HttpConnection::Reply HttpConnection::post(const Request& request, Deadline deadline) {
  start(request, deadline);
  while (!reply_.is_whole()) {
    if (reply_.body_size() > kBodyMax) {
      throw Error(ErrorCode::Exhausted, "a reply of over " + std::to_string(kBodyMax) + " bytes");
    }
    receive_some(deadline);
  }
  is_idle_ = reply_.is_kept_alive();
  return {.status = reply_.status(), .body = reply_.take_body()};
}

int HttpConnection::start(const Request& request, Deadline deadline) {
  TRIREME_CHECK(is_idle_, "a request before the last one was answered");
  is_idle_ = false;
  reply_ = HttpReply();
  // Sends head and body together, so that a small request fits into one packet.
  std::string text = head_of(host_, request);
  text += request.body;
  send_all(text, deadline);
  while (!reply_.has_head()) receive_some(deadline);
  return reply_.status();
}

std::string HttpConnection::read(Deadline deadline) {
  while (reply_.body_size() == 0) {
    if (reply_.is_whole()) {
      is_idle_ = reply_.is_kept_alive();
      return {};
    }
    receive_some(deadline);
  }
  return reply_.take_body();
}

void HttpConnection::send_all(std::string_view text, Deadline deadline) {
  ByteView rest = bytes_of(text);
  while (!rest.empty()) {
    const IoResult sent = send(socket_, rest);
    if (sent.has_moved()) {
      rest = rest.subspan(sent.size);
    } else if (!sent.must_wait()) {
      throw Error(ErrorCode::PeerLost, sent.reason());
    } else if (!wait_ready(socket_, POLLOUT, deadline)) {
      throw Error(ErrorCode::Deadline, host_ + " reads nothing");
    }
  }
}

void HttpConnection::receive_some(Deadline deadline) {
  std::array<std::byte, 16384> buffer;
  for (;;) {
    const IoResult got = receive(socket_, buffer);
    if (got.has_moved()) {
      const std::string_view text = text_of(ByteView(buffer.data(), got.size));
      if (reply_.feed(text) != text.size()) {
        throw Error(ErrorCode::Protocol, host_ + " said more than it was asked");
      }
      return;
    }
    if (!got.must_wait()) {
      if (got.error != 0) throw Error(ErrorCode::PeerLost, got.reason());
      return reply_.feed_end();
    }
    if (!wait_ready(socket_, POLLIN, deadline)) {
      throw Error(ErrorCode::Deadline, host_ + " did not answer in time");
    }
  }
}

}  // namespace trireme::net
