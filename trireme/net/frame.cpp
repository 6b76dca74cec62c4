#include "trireme/net/frame.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::net {
namespace {

constexpr std::array<char, 4> kMagic{'T', 'R', 'M', '1'};

// Where each field lies.
constexpr std::size_t kKindAt = 4;
constexpr std::size_t kFlagsAt = 5;
constexpr std::size_t kMethodAt = 6;
constexpr std::size_t kIdAt = 8;
constexpr std::size_t kSizeAt = 16;

// A reader that once held a large frame gives its memory back.
constexpr std::size_t kKeptCapacity = std::size_t{1} << 20;

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

}  // namespace

FrameHeader encode_header(FrameKind kind, std::uint16_t method, std::uint64_t id,
                          std::size_t size) {
  TRIREME_CHECK(size <= kPayloadMax, "a payload of ", size, " bytes exceeds the ", kPayloadMax,
                " that a frame carries");
  FrameHeader out{};
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  store(out.data() + kKindAt, static_cast<std::uint8_t>(kind));
  store(out.data() + kMethodAt, method);
  store(out.data() + kIdAt, id);
  store(out.data() + kSizeAt, static_cast<std::uint32_t>(size));
  return out;
}

Bytes encode(const Frame& frame) {
  const FrameHeader header =
      encode_header(frame.kind, frame.method, frame.id, frame.payload.size());
  Bytes out(header.size() + frame.payload.size());
  std::ranges::copy(frame.payload, std::ranges::copy(header, out.begin()).out);
  return out;
}

std::size_t FrameReader::check_header(std::size_t at) const {
  const std::byte* header = buffer_.data() + at;
  if (std::memcmp(header, kMagic.data(), kMagic.size()) != 0) {
    throw Error(ErrorCode::Protocol, "frame begins with " + to_hex({header, kMagic.size()}) +
                                         " where a TRM1 header is due");
  }
  const auto kind = load<std::uint8_t>(header + kKindAt);
  if (kind < static_cast<std::uint8_t>(FrameKind::Request) ||
      kind > static_cast<std::uint8_t>(FrameKind::Cancel)) {
    throw Error(ErrorCode::Protocol, "frame of unknown kind " + std::to_string(kind));
  }
  if (const auto flags = load<std::uint8_t>(header + kFlagsAt); flags != 0) {
    throw Error(ErrorCode::Protocol, "frame with unknown flags " + std::to_string(flags));
  }
  const std::size_t size = load<std::uint32_t>(header + kSizeAt);
  if (size > payload_max_) {
    throw Error(ErrorCode::Protocol, "frame of " + std::to_string(size) + " bytes where at most " +
                                         std::to_string(payload_max_) + " are allowed");
  }
  return size;
}

void FrameReader::feed(ByteView input) {
  compact();
  buffer_.insert(buffer_.end(), input.begin(), input.end());
  while (checked_ <= buffer_.size() && buffer_.size() - checked_ >= kFrameHeaderSize) {
    checked_ += kFrameHeaderSize + check_header(checked_);
  }
}

std::optional<Frame> FrameReader::next() {
  if (pending() < kFrameHeaderSize || begin_ >= checked_) return std::nullopt;
  const std::byte* header = buffer_.data() + begin_;
  const std::size_t size = load<std::uint32_t>(header + kSizeAt);
  if (pending() - kFrameHeaderSize < size) return std::nullopt;
  Frame out;
  out.kind = static_cast<FrameKind>(load<std::uint8_t>(header + kKindAt));
  out.method = load<std::uint16_t>(header + kMethodAt);
  out.id = load<std::uint64_t>(header + kIdAt);
  const std::byte* payload = header + kFrameHeaderSize;
  out.payload.assign(payload, payload + size);
  begin_ += kFrameHeaderSize + size;
  return out;
}

void FrameReader::compact() {
  if (begin_ == 0) return;
  // Moving the rest only once half of the buffer is waste keeps the cost linear.
  if (begin_ < buffer_.size() && begin_ < buffer_.size() / 2) return;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  checked_ -= begin_;
  begin_ = 0;
  if (buffer_.size() < kKeptCapacity / 2 && buffer_.capacity() > kKeptCapacity) {
    buffer_.shrink_to_fit();
  }
}

}  // namespace trireme::net
