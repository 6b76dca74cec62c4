// Goal:   no bytes crash the messages between a launcher and its agents on other hosts or the
//         reports of ranks to a job's control socket; an accepted message is encoded to the same
//         message again.
// Method: the first byte selects the format of the rest: frames in pieces, whose payloads go
//         through the reader of their type, or one payload.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/hosts/protocol/frame.h"
#include "trireme/cluster/launch/hosts/protocol/order.h"
#include "trireme/cluster/launch/job/service.h"

using namespace trireme;
using namespace trireme::cluster::launch;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(ByteView bytes, const std::function<Bytes(ByteView)>& decode_and_encode) {
  try {
    const Bytes once = decode_and_encode(bytes);
    require(once.size() == bytes.size());
    require(std::ranges::equal(decode_and_encode(once), once));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol);
  }
}

void check_payload(int kind, ByteView payload) {
  switch (kind) {
    case 0:
      return check(payload, [](ByteView in) { return hosts::StartOrder::decode(in).encode(); });
    case 1:
      return check(payload, [](ByteView in) {
        const hosts::OutputPiece piece = hosts::decode_output(in);
        return hosts::encode_output(piece.rank, piece.target, piece.bytes);
      });
    case 2:
      return check(payload, [](ByteView in) { return hosts::encode_exit(hosts::decode_exit(in)); });
    case 3:
      return check(payload,
                   [](ByteView in) { return hosts::encode_start(hosts::decode_start(in)); });
    case 4:
      return check(payload,
                   [](ByteView in) { return hosts::encode_indexes(hosts::decode_indexes(in)); });
    case 6:
      return check(payload, [](ByteView in) {
        return hosts::encode_rank_order(hosts::decode_rank_order(in));
      });
    case 7:
      return check(payload,
                   [](ByteView in) { return hosts::encode_starts(hosts::decode_starts(in)); });
    default:
      return check(payload,
                   [](ByteView in) { return job::encode_reports(job::decode_reports(in)); });
  }
}

void check_frames(ByteView bytes, std::size_t piece) {
  hosts::LaunchFrameReader reader;
  std::string again;
  try {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::size_t size = std::min(piece, bytes.size() - at);
      reader.feed(text_of(bytes.subspan(at, size)));
      while (const auto frame = reader.next()) {
        require(frame->payload.size() <= hosts::kFrameMax);
        again += hosts::encode_frame(frame->kind, frame->payload);
        check_payload(static_cast<int>(frame->kind) % 8, frame->payload);
      }
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Protocol);
  }
  require(text_of(bytes).starts_with(again));
  require(!reader.is_empty() || again.size() == bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView rest = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] < 128) {
    check_frames(rest, 1 + data[0] % 32);
  } else {
    check_payload(data[0] < 250 ? data[0] % 6 : 6 + data[0] % 2, rest);
  }
  return 0;
}
