#include "trireme/cluster/launch/hosts/protocol/frame.h"

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

constexpr std::size_t kHeadSize = 5;
constexpr std::size_t kReadMax = std::size_t{64} << 10;

}  // namespace

std::string encode_frame(LaunchFrameKind kind, ByteView payload) {
  ByteWriter head;
  head.put(static_cast<std::uint32_t>(payload.size())).put(static_cast<std::uint8_t>(kind));
  std::string text(text_of(head.bytes()));
  return text.append(text_of(payload));
}

std::optional<LaunchFrame> LaunchFrameReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  if (rest.size() < kHeadSize) return std::nullopt;
  ByteReader head(bytes_of(rest.substr(0, kHeadSize)));
  const auto size = head.get<std::uint32_t>();
  const auto kind = head.get<std::uint8_t>();
  const bool is_known = kind >= static_cast<std::uint8_t>(LaunchFrameKind::Hello) &&
                        kind <= static_cast<std::uint8_t>(LaunchFrameKind::Kill);
  if (size > kFrameMax || !is_known) {
    throw Error(ErrorCode::Protocol,
                "the received bytes are not a frame of this version of trireme");
  }
  if (rest.size() < kHeadSize + size) return std::nullopt;
  LaunchFrame frame{.kind = static_cast<LaunchFrameKind>(kind),
                    .payload = to_bytes(rest.substr(kHeadSize, size))};
  at_ += kHeadSize + size;
  // Consumed bytes are erased in large pieces, so that many small frames do not cost quadratic
  // time.
  if (at_ == buffer_.size() || at_ > kReadMax) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  return frame;
}

}  // namespace trireme::cluster::launch::hosts
