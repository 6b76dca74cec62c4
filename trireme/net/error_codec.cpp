#include "trireme/net/error_codec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trireme::net {
namespace {

void put_text(ByteWriter& out, std::string_view text) {
  out.put_text(text.substr(0, kErrorTextMax));
}

void put_number(ByteWriter& out, std::optional<int> number) {
  out.put(static_cast<std::uint8_t>(number.has_value()));
  out.put(static_cast<std::int32_t>(number.value_or(0)));
}

std::string get_text(ByteReader& in) {
  const ByteView text = in.get_bytes();
  if (text.size() > kErrorTextMax) {
    throw Error(ErrorCode::Protocol, "error text of " + std::to_string(text.size()) + " bytes");
  }
  return std::string(text_of(text));
}

std::optional<int> get_number(ByteReader& in) {
  const auto has_value = in.get<std::uint8_t>();
  const auto number = in.get<std::int32_t>();
  if (has_value > 1 || (has_value == 0 && number != 0)) {
    throw Error(ErrorCode::Protocol, "malformed number in an encoded error");
  }
  return has_value == 1 ? std::optional<int>(number) : std::nullopt;
}

}  // namespace

Bytes encode_error(const Error& error) {
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(error.code()));
  put_number(out, error.rank());
  put_number(out, error.peer());
  put_text(out, error.message());
  put_text(out, error.operation());
  put_text(out, error.cause());
  return std::move(out).take();
}

Error decode_error(ByteView bytes) {
  ByteReader in(bytes);
  const auto code = in.get<std::uint8_t>();
  if (code >= kErrorCodeCount) {
    throw Error(ErrorCode::Protocol, "unknown error code " + std::to_string(code));
  }
  const auto rank = get_number(in);
  const auto peer = get_number(in);
  Error out(static_cast<ErrorCode>(code), get_text(in));
  const std::string operation = get_text(in);
  const std::string cause = get_text(in);
  in.expect_end();
  if (rank) out = out.with_rank(*rank);
  if (peer) out = out.with_peer(*peer);
  if (!operation.empty()) out = out.with_operation(operation);
  if (!cause.empty()) out = out.with_cause(cause);
  return out;
}

}  // namespace trireme::net
