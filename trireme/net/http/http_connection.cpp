#include "trireme/net/http/http_connection.h"

// An assertion of Beast fails on the valid reply "0\r\n\r\n" in chunks if its last bytes arrive one
// by one (parse_chunk_header; corrected in May 2024, after Boost 1.74 and 1.81), so a server could
// end this process. The code behind the assertions rejects malformed replies by itself.
#define BOOST_DISABLE_ASSERTS

#include <poll.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <limits>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::net {
namespace {

namespace http = boost::beast::http;
using Code = boost::beast::error_code;

constexpr std::size_t kPieceMax = 16384;

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

[[noreturn]] void refuse_reply(const std::string& why) {
  throw Error(ErrorCode::Protocol, "this is no HTTP reply: " + why);
}

}  // namespace

struct HttpConnection::Parser : http::response_parser<http::buffer_body> {
  Parser() {
    header_limit(kHeadMax);
    // Version 1.74 understands boost::none as zero.
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }
  std::size_t head_size = 0;  // Beast limits the part that is not parsed yet
};

HttpConnection::HttpConnection(const Address& address, Deadline deadline)
    : host_(host_text(address)), socket_(connect_any(resolve(address, deadline), deadline)) {}

HttpConnection::~HttpConnection() = default;

bool HttpConnection::can_go_on() const noexcept {
  if (!is_idle_ || !unread_.empty()) return false;
  // The server has no reason to send anything now, so readable data means that the connection
  // ended.
  pollfd entry{.fd = socket_.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 0;
}

HttpConnection::Reply HttpConnection::post(const Request& request, Deadline deadline) {
  Reply reply{.status = start(request, deadline), .body = {}};
  for (std::string piece; !(piece = read(deadline)).empty();) {
    require_time(deadline);
    reply.body += piece;
    if (reply.body.size() > kBodyMax) {
      throw Error(ErrorCode::Exhausted, "a reply of over " + std::to_string(kBodyMax) + " bytes");
    }
  }
  return reply;
}

int HttpConnection::start(const Request& request, Deadline deadline) {
  TRIREME_CHECK(is_idle_, "a request before the last one was answered");
  is_idle_ = false;
  // Sends head and body together, so that a small request fits into one packet.
  std::string text = head_of(host_, request);
  text += request.body;
  send_all(text, deadline);
  receive_head(deadline);
  // An informational reply such as 100 Continue precedes the actual reply.
  while (parser_->get().result_int() / 100 == 1) {
    require_time(deadline);
    receive_head(deadline);
  }
  // Beast would pass on the body as it was sent.
  const auto encoding = parser_->get()[http::field::transfer_encoding];
  if (!encoding.empty() && !boost::beast::iequals(encoding, "chunked")) {
    refuse_reply("an encoding that is not known here");
  }
  return static_cast<int>(parser_->get().result_int());
}

void HttpConnection::receive_head(Deadline deadline) {
  parser_ = std::make_unique<Parser>();
  while (!parser_->is_header_done()) {
    if (!parse()) receive_some(deadline);
  }
}

std::string HttpConnection::read(Deadline deadline) {
  std::string piece(kPieceMax, '\0');
  auto& body = parser_->get().body();
  body = {.data = piece.data(), .size = piece.size(), .more = true};
  while (!parser_->is_done() && body.size > 0) {
    if (parse()) continue;
    if (body.size < piece.size()) break;
    receive_some(deadline);
  }
  if (parser_->is_done()) is_idle_ = parser_->keep_alive();
  piece.resize(piece.size() - body.size);
  return piece;
}

bool HttpConnection::parse() {
  if (unread_.empty()) return false;
  Code code;
  const bool is_head = !parser_->is_header_done();
  const std::size_t size = parser_->put(boost::asio::buffer(unread_), code);
  unread_.erase(0, size);
  if (is_head) parser_->head_size += size;
  if (parser_->head_size > kHeadMax) refuse_reply("a head without end");
  if (code == http::error::need_more) return false;
  if (code && code != http::error::need_buffer) refuse_reply(code.message());
  return true;
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

// A server that sends without a pause is never waited for, so waiting alone would not end.
void HttpConnection::require_time(Deadline deadline) const {
  if (deadline.is_past()) throw Error(ErrorCode::Deadline, host_ + " did not answer in time");
}

void HttpConnection::receive_some(Deadline deadline) {
  if (unread_.size() > kHeadMax) refuse_reply("a line without end");
  std::array<std::byte, kPieceMax> buffer;
  IoResult got;
  while ((got = receive(socket_, buffer)).must_wait()) {
    if (!wait_ready(socket_, POLLIN, deadline)) require_time(deadline);
  }
  if (got.has_moved()) {
    unread_ += text_of(ByteView(buffer.data(), got.size));
    return;
  }
  if (got.error != 0) throw Error(ErrorCode::PeerLost, got.reason());
  // The end of the connection is the end of a reply without a length.
  Code code = http::error::partial_message;
  if (parser_->got_some()) parser_->put_eof(code);
  if (code) throw Error(ErrorCode::PeerLost, "the server closed the connection");
}

}  // namespace trireme::net
