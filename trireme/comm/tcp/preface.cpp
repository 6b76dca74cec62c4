#include "trireme/comm/tcp/preface.h"

#include "trireme/base/bytes.h"

namespace trireme::comm::tcp {
namespace {

constexpr std::uint32_t kPrefaceMagic = 0x3150434d;  // "MCP1"
constexpr std::size_t kSize = 4 + 2 * 8 + 3 * 4;

}  // namespace

std::string Preface::to_text() const {
  return "worker " + std::to_string(worker) + " as rank " + std::to_string(rank) + " of epoch " +
         std::to_string(epoch);
}

std::string Preface::to_bytes() const {
  ByteWriter out;
  out.put(kPrefaceMagic).put(epoch).put(mesh).put(worker).put(rank).put(stream);
  return std::string(text_of(out.bytes()));
}

std::optional<Preface> Preface::from_bytes(std::string_view bytes) {
  if (bytes.size() != kSize) return std::nullopt;
  ByteReader in(bytes_of(bytes));
  if (in.get<std::uint32_t>() != kPrefaceMagic) return std::nullopt;
  Preface preface;
  preface.epoch = in.get<std::uint64_t>();
  preface.mesh = in.get<std::uint64_t>();
  preface.worker = in.get<std::int32_t>();
  preface.rank = in.get<std::int32_t>();
  preface.stream = in.get<std::int32_t>();
  return preface;
}

}  // namespace trireme::comm::tcp
