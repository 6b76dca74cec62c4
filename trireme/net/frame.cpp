#include "trireme/net/frame.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::net {
namespace {

constexpr std::array<char, 4> kMagic{'T', 'R', 'M', '1'};

// The offset of each field.
constexpr std::size_t kKindAt = 4;
constexpr std::size_t kFlagsAt = 5;
constexpr std::size_t kMethodAt = 6;
constexpr std::size_t kIdAt = 8;
constexpr std::size_t kSizeAt = 16;

constexpr std::size_t kReservedMax = std::size_t{1} << 20;

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

// The payload size in a header. Throws Protocol unless every field is plausible.
std::size_t check_header(const FrameHeader& header, std::size_t payload_max) {
  if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0) {
    throw Error(ErrorCode::Protocol, "frame begins with " +
                                         to_hex(ByteView(header).first(kMagic.size())) +
                                         " where a TRM1 header is due");
  }
  const auto kind = load<std::uint8_t>(header.data() + kKindAt);
  if (kind < static_cast<std::uint8_t>(FrameKind::Request) ||
      kind > static_cast<std::uint8_t>(FrameKind::Cancel)) {
    throw Error(ErrorCode::Protocol, "frame of unknown kind " + std::to_string(kind));
  }
  if (const auto flags = load<std::uint8_t>(header.data() + kFlagsAt); flags != 0) {
    throw Error(ErrorCode::Protocol, "frame with unknown flags " + std::to_string(flags));
  }
  const std::size_t size = load<std::uint32_t>(header.data() + kSizeAt);
  if (size > payload_max) {
    throw Error(ErrorCode::Protocol, "frame of " + std::to_string(size) + " bytes where at most " +
                                         std::to_string(payload_max) + " are allowed");
  }
  return size;
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

void FrameReader::feed(ByteView input) {
  while (true) {
    if (header_size_ < kFrameHeaderSize) feed_header(input);
    if (header_size_ < kFrameHeaderSize) return;
    // Checked again, because a caller may continue feeding after an error.
    payload_size_ = check_header(header_, payload_max_);
    feed_payload(input);
    if (unfinished_.payload.size() < payload_size_) return;
    whole_.push_back(std::exchange(unfinished_, {}));
    header_size_ = 0;
  }
}

void FrameReader::feed_header(ByteView& input) {
  const std::size_t size = std::min(kFrameHeaderSize - header_size_, input.size());
  if (size > 0) std::memcpy(header_.data() + header_size_, input.data(), size);
  input = input.subspan(size);
  header_size_ += size;
  pending_ += size;
}

void FrameReader::feed_payload(ByteView& input) {
  Bytes& payload = unfinished_.payload;
  if (payload.empty()) {
    unfinished_.kind = static_cast<FrameKind>(load<std::uint8_t>(header_.data() + kKindAt));
    unfinished_.method = load<std::uint16_t>(header_.data() + kMethodAt);
    unfinished_.id = load<std::uint64_t>(header_.data() + kIdAt);
    payload.reserve(std::min(payload_size_, kReservedMax));
  }
  const ByteView piece = input.first(std::min(payload_size_ - payload.size(), input.size()));
  payload.insert(payload.end(), piece.begin(), piece.end());
  input = input.subspan(piece.size());
  pending_ += piece.size();
}

std::optional<Frame> FrameReader::next() {
  if (whole_.empty()) return std::nullopt;
  Frame out = std::move(whole_.front());
  whole_.pop_front();
  pending_ -= kFrameHeaderSize + out.payload.size();
  return out;
}

}  // namespace trireme::net
