// HttpReply takes one HTTP/1.1 reply apart while its bytes arrive: the status, and the body with
// whatever carried it (a length, chunks, the end of the connection) removed.
//
//   while (!reply.is_whole()) reply.feed(next_bytes());
//
// Hostile input: throws Protocol, never reads past the end; a line has at most kLineMax bytes and a
//                head kHeadMax. The body is as large as the sender likes: whoever feeds takes it
//                out, and stops when it was enough.
// Threads:       one.

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

  // Takes what belongs to this reply and says how many bytes that was.
  std::size_t feed(std::string_view bytes);
  // The connection ended. Throws PeerLost unless that is how this reply is to end.
  void feed_end();

  bool has_head() const noexcept { return part_ > Part::Fields; }
  // REQUIRES: has_head().
  int status() const noexcept { return status_; }
  bool is_whole() const noexcept { return part_ == Part::Whole; }
  // The connection may carry another request once this reply is whole.
  bool is_kept_alive() const noexcept { return is_kept_alive_; }
  // The bytes of the body that came since it was last asked.
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
  std::uint64_t left_ = 0;  // of the body, or of the chunk
  std::string body_;
};

}  // namespace trireme::net
