#include "trireme/net/http/http_reply.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

[[noreturn]] void refuse_reply(const std::string& why) {
  throw Error(ErrorCode::Protocol, "this is no HTTP reply: " + why);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::uint64_t number_of(std::string_view text, int radix) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, radix);
  if (error != std::errc{} || end != text.data() + text.size()) refuse_reply("a bad length");
  return number;
}

}  // namespace

bool HttpReply::is_in_line() const noexcept {
  return part_ != Part::Sized && part_ != Part::UntilEnd && part_ != Part::Chunk;
}

std::size_t HttpReply::feed(std::string_view bytes) {
  std::string_view rest = bytes;
  while (!rest.empty() && part_ != Part::Whole) {
    if (is_in_line()) {
      take_line(rest);
    } else {
      take_data(rest);
    }
  }
  return bytes.size() - rest.size();
}

void HttpReply::feed_end() {
  if (part_ == Part::UntilEnd) part_ = Part::Whole;
  is_kept_alive_ = false;
  if (part_ != Part::Whole) throw Error(ErrorCode::PeerLost, "the server closed the connection");
}

std::string HttpReply::take_body() {
  return std::exchange(body_, {});
}

void HttpReply::take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view piece = rest.substr(0, end);
  if (line_.size() + piece.size() > kLineMax) refuse_reply("a line without end");
  line_ += piece;
  if (part_ <= Part::Fields || part_ == Part::Trailer) head_size_ += piece.size();
  if (head_size_ > kHeadMax) refuse_reply("a head without end");
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (end == std::string_view::npos) return;
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  on_line(std::exchange(line_, {}));
}

void HttpReply::take_data(std::string_view& rest) {
  const std::size_t size = part_ == Part::UntilEnd ? rest.size()
                           : left_ < rest.size()   ? static_cast<std::size_t>(left_)
                                                   : rest.size();
  body_ += rest.substr(0, size);
  rest.remove_prefix(size);
  if (part_ == Part::UntilEnd) return;
  left_ -= size;
  if (left_ == 0) part_ = part_ == Part::Chunk ? Part::ChunkEnd : Part::Whole;
}

void HttpReply::on_line(std::string_view line) {
  switch (part_) {
    case Part::Status:
      return read_status(line);
    case Part::Fields:
      return line.empty() ? begin_body() : read_field(line);
    case Part::ChunkSize:
      left_ = number_of(trimmed(line.substr(0, line.find(';'))), 16);
      part_ = left_ == 0 ? Part::Trailer : Part::Chunk;
      return;
    case Part::ChunkEnd:
      if (!line.empty()) refuse_reply("a chunk longer than it said");
      part_ = Part::ChunkSize;
      return;
    case Part::Trailer:
      if (line.empty()) part_ = Part::Whole;
      return;
    default:
      refuse_reply("a line where there is none");
  }
}

void HttpReply::read_status(std::string_view line) {
  // "HTTP/1.1 200 OK"
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') {
    refuse_reply("it begins with \"" + std::string(line.substr(0, 20)) + "\"");
  }
  status_ = static_cast<int>(number_of(line.substr(9, 3), 10));
  is_kept_alive_ = line[7] != '0';
  part_ = Part::Fields;
}

void HttpReply::read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) refuse_reply("a field without a colon");
  const std::string name = lower(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-length") {
    const std::uint64_t size = number_of(value, 10);
    if (is_sized_ && size != left_) refuse_reply("two lengths");
    left_ = size;
    is_sized_ = true;
  } else if (name == "transfer-encoding") {
    if (lower(value) != "chunked") refuse_reply("an encoding that is not known here");
    is_chunked_ = true;
  } else if (name == "connection" && lower(value) == "close") {
    is_kept_alive_ = false;
  }
}

void HttpReply::begin_body() {
  // An informational reply such as 100 Continue precedes the actual reply.
  if (status_ >= 100 && status_ < 200) {
    part_ = Part::Status;
    return;
  }
  if (status_ == 204 || status_ == 304) {
    part_ = Part::Whole;
  } else if (is_chunked_) {
    part_ = Part::ChunkSize;
  } else if (!is_sized_) {
    part_ = Part::UntilEnd;
    is_kept_alive_ = false;
  } else {
    part_ = left_ == 0 ? Part::Whole : Part::Sized;
  }
}

}  // namespace trireme::net
