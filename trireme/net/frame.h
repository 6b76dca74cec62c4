// Frame is the unit of data on an authenticated connection: a fixed header and a payload.
//
// | bytes | field   |                                                         |
// |   4   | magic   | "TRM1", with the version; other values are refused      |
// |   1   | kind    |                                                         |
// |   1   | flags   | zero; room for checksums                                |
// |   2   | method  | the service and call that a Request is for              |
// |   8   | id      | the request that this frame belongs to                  |
// |   4   | size    | of the payload                                          |
//
// FrameReader accepts the received bytes in pieces of any size and returns complete frames. It does
// not trust the size in a header: it reserves at most one mebibyte before the bytes arrive. It
// holds one incomplete frame of at most `payload_max` bytes, and the complete frames not yet taken.
//
// Thread safety: values; each reader is used by one thread at a time.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "trireme/base/bytes.h"

namespace trireme::net {

enum class FrameKind : std::uint8_t {
  Request = 1,  // expects one Reply or Failure, or Items and then End or Failure
  Reply = 2,
  Item = 3,     // one element of a stream
  End = 4,      // the end of a stream
  Failure = 5,  // payload is an encoded Error
  Post = 6,     // one way, no answer
  Cancel = 7,   // the caller no longer wants answers to `id`
};

struct Frame {
  FrameKind kind = FrameKind::Request;
  std::uint16_t method = 0;
  std::uint64_t id = 0;
  Bytes payload;
};

inline constexpr std::size_t kFrameHeaderSize = 20;
inline constexpr std::size_t kPayloadMax = std::size_t{64} << 20;

using FrameHeader = std::array<std::byte, kFrameHeaderSize>;

// The header of a frame whose payload of `size` bytes is sent separately, without a copy. REQUIRES:
// size <= kPayloadMax.
FrameHeader encode_header(FrameKind kind, std::uint16_t method, std::uint64_t id, std::size_t size);
Bytes encode(const Frame& frame);

class FrameReader {
 public:
  explicit FrameReader(std::size_t payload_max = kPayloadMax) : payload_max_(payload_max) {}

  // Adds received bytes. Throws Protocol at the first invalid header, and on every call after that.
  void feed(ByteView input);
  // The next complete frame, if there is one.
  std::optional<Frame> next();
  // The number of bytes held and not yet taken.
  std::size_t pending() const noexcept { return pending_; }

 private:
  // Each removes the bytes it needs from the front of `input`.
  void feed_header(ByteView& input);
  void feed_payload(ByteView& input);

  std::size_t payload_max_;
  std::size_t pending_ = 0;
  FrameHeader header_{};
  std::size_t header_size_ = 0;   // number of bytes of header_ received
  std::size_t payload_size_ = 0;  // the payload size in a complete header_
  Frame unfinished_;
  std::deque<Frame> whole_;
};

}  // namespace trireme::net
