// Goal:   no bytes crash the frame reader or the error codec, make them hold more than the limit,
//         or are decoded to something other than what was sent.
// Method: the first byte selects the sizes of the pieces in which the rest arrives, and the size
//         limit. The reader's results are encoded again and compared; payloads also go through the
//         error codec.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "trireme/base/error.h"
#include "trireme/net/error_codec.h"
#include "trireme/net/frame.h"

using trireme::Bytes;
using trireme::ByteView;
using trireme::Error;
using trireme::ErrorCode;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_error(ByteView bytes) {
  try {
    const Bytes again = trireme::net::encode_error(trireme::net::decode_error(bytes));
    require(std::ranges::equal(again, bytes));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol);
  }
}

void check_stream(ByteView bytes, std::size_t piece, std::size_t payload_max) {
  trireme::net::FrameReader reader(payload_max);
  std::size_t yielded = 0;
  const auto take_all = [&] {
    while (const auto frame = reader.next()) {
      require(frame->payload.size() <= payload_max);
      const Bytes again = trireme::net::encode(*frame);
      require(std::ranges::equal(again, bytes.subspan(yielded, again.size())));
      yielded += again.size();
      check_error(frame->payload);
    }
  };
  try {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::size_t size = std::min(piece, bytes.size() - at);
      reader.feed(bytes.subspan(at, size));
      require(yielded + reader.pending() == at + size);
      take_all();
      require(reader.pending() < trireme::net::kFrameHeaderSize + payload_max);
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol);
    take_all();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView bytes = std::as_bytes(std::span(data + 1, size - 1));
  const std::size_t piece = data[0] % 16 == 0 ? size : data[0] % 16;
  check_stream(bytes, piece, data[0] < 128 ? 64 : trireme::net::kPayloadMax);
  check_error(bytes);
  return 0;
}
