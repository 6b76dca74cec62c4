// HttpReply parses one HTTP/1.1 reply incrementally: the status, and the body without its framing
// (content length, chunks or end of connection).
//
//   while (!reply.is_whole()) reply.feed(next_bytes());
//
// Hostile input: throws Protocol and never reads out of bounds. A line has at most kLineMax bytes
//                and a head at most kHeadMax. The size of the body is not limited: the caller takes
//                it out with take_body() and must enforce its own limit.
// Thread safety: one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trireme::net {

class HttpReply {
 public:
  static constexpr std::size_t kLineMax = 8192;
  static constexpr std::size_t kHeadMax = 65536;

  // Consumes the bytes that belong to this reply and returns their number.
  std::size_t feed(std::string_view bytes);
  // The connection ended. Throws PeerLost unless the end of the connection terminates this reply.
  void feed_end();

  bool has_head() const noexcept { return part_ > Part::Fields; }
  // REQUIRES: has_head().
  int status() const noexcept { return status_; }
  bool is_whole() const noexcept { return part_ == Part::Whole; }
  // True if the connection may carry another request after this reply.
  bool is_kept_alive() const noexcept { return is_kept_alive_; }
  // The bytes of the body received since the last call.
  std::string take_body();
  std::size_t body_size() const noexcept { return body_.size(); }

 private:
  enum class Part { Status, Fields, Sized, UntilEnd, ChunkSize, Chunk, ChunkEnd, Trailer, Whole };

  bool is_in_line() const noexcept;
  void take_line(std::string_view& rest);
  void take_data(std::string_view& rest);
  void on_line(std::string_view line);
  void read_status(std::string_view line);
  void read_field(std::string_view line);
  void begin_body();

  Part part_ = Part::Status;
  std::string line_;
  std::size_t head_size_ = 0;
  int status_ = 0;
  bool is_chunked_ = false;
  bool is_sized_ = false;
  bool is_kept_alive_ = true;
  std::uint64_t left_ = 0;  // remaining bytes of the body or the chunk
  std::string body_;
};

}  // namespace trireme::net
