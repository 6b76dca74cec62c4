// Frame is the unit that travels on an authenticated connection: a fixed header and a payload.
//
// | bytes | field   |                                                         |
// |   4   | magic   | "TRM1": the version; anything else is not ours          |
// |   1   | kind    |                                                         |
// |   1   | flags   | zero; room for checksums                                |
// |   2   | method  | which service and call a Request is for                 |
// |   8   | id      | the request that this frame belongs to                  |
// |   4   | size    | of the payload                                          |
//
// FrameReader is fed whatever arrived, in any pieces, and yields whole frames. What a header
// claims is not taken at its word: at most a mebibyte is set aside before the bytes come. It holds
// one unfinished frame of at most `payload_max` bytes, and the whole ones not yet taken.
//
// Threads: values; one at a time a reader.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "trireme/base/bytes.h"

namespace trireme::net {

enum class FrameKind : std::uint8_t {
  Request = 1,  // expects one Reply or Failure, or Items and then an End or Failure
  Reply = 2,
  Item = 3,     // one element of a stream
  End = 4,      // the stream is over
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

// The header of a frame whose payload of `size` bytes is sent from where it lies.
// REQUIRES: size <= kPayloadMax.
FrameHeader encode_header(FrameKind kind, std::uint16_t method, std::uint64_t id, std::size_t size);
Bytes encode(const Frame& frame);

class FrameReader {
 public:
  explicit FrameReader(std::size_t payload_max = kPayloadMax) : payload_max_(payload_max) {}

  // Adds what arrived. Throws Protocol at the first impossible header, and again ever after.
  void feed(ByteView input);
  // The next whole frame, if there is one.
  std::optional<Frame> next();
  // Bytes held that were not taken yet.
  std::size_t pending() const noexcept { return pending_; }

 private:
  // Each takes from the front of `input` what it needs.
  void feed_header(ByteView& input);
  void feed_payload(ByteView& input);

  std::size_t payload_max_;
  std::size_t pending_ = 0;
  FrameHeader header_{};
  std::size_t header_size_ = 0;   // how much of header_ has come
  std::size_t payload_size_ = 0;  // what a whole header_ claims
  Frame unfinished_;
  std::deque<Frame> whole_;
};

}  // namespace trireme::net
