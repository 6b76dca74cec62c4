#include "trireme/data/sequence/token_shard.h"

#include <algorithm>
#include <cstring>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data::sequence {
namespace {

constexpr std::int32_t kMagic16 = 20240520;
constexpr std::int32_t kMagic32 = 20240801;
constexpr std::size_t kHeaderSize = 1024;

[[noreturn]] void fail(const std::string& name, std::size_t offset, const std::string& why) {
  throw Error(ErrorCode::Corrupt, name + ": at byte " + std::to_string(offset) + ": " + why);
}

std::int32_t number_at(ByteView bytes, std::size_t offset) {
  std::int32_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

bool has_header(ByteView bytes) {
  if (bytes.size() < sizeof(std::int32_t)) return false;
  const std::int32_t magic = number_at(bytes, 0);
  return magic == kMagic16 || magic == kMagic32;
}

void check_header(ByteView bytes, std::size_t width, const std::string& name) {
  if (bytes.size() < kHeaderSize) fail(name, bytes.size(), "the file ends within its header");
  const std::size_t actual = number_at(bytes, 0) == kMagic16 ? 2 : 4;
  if (actual != width) {
    fail(name, 0,
         "the header says " + std::to_string(8 * actual) +
             " bits a token; set data.type = "
             "\"uint" +
             std::to_string(8 * actual) + "\"");
  }
  const std::int64_t promised = number_at(bytes, 8);
  const auto there = static_cast<std::int64_t>((bytes.size() - kHeaderSize) / width);
  if (promised != there) {
    fail(name, 8,
         "the header promises " + std::to_string(promised) + " tokens, and " +
             std::to_string(there) + " follow");
  }
}

}  // namespace

TokenShard::TokenShard(const std::filesystem::path& path, TokenType type, std::int64_t vocabulary)
    : file_(path), width_(type == TokenType::Uint16 ? 2 : 4), vocabulary_(vocabulary) {
  const ByteView bytes = file_.bytes();
  if (has_header(bytes)) {
    check_header(bytes, width_, name());
    offset_ = kHeaderSize;
  }
  if ((bytes.size() - offset_) % width_ != 0) {
    fail(name(), bytes.size(),
         "the file ends within a token of " + std::to_string(width_) + " bytes");
  }
  count_ = static_cast<std::int64_t>((bytes.size() - offset_) / width_);
}

void TokenShard::read(std::int64_t first, std::int64_t count, std::int64_t* out) const {
  TRIREME_CHECK(first >= 0 && count >= 0 && first <= count_ - count, "tokens ", first, " to ",
                first + count, " of ", count_);
  if (width_ == 2) return read_as<std::uint16_t>(first, count, out);
  return read_as<std::uint32_t>(first, count, out);
}

template <class Number>
void TokenShard::read_as(std::int64_t first, std::int64_t count, std::int64_t* out) const {
  // Both offsets are multiples of the width, so every token is aligned.
  const auto* const from = reinterpret_cast<const Number*>(file_.bytes().data() + offset_) + first;
  std::int64_t largest = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = from[i];
    largest = std::max(largest, out[i]);
  }
  if (largest < vocabulary_) return;
  const std::int64_t at = std::find(out, out + count, largest) - out;
  fail(name(), offset_ + static_cast<std::size_t>(first + at) * width_,
       "token " + std::to_string(largest) + " of a vocabulary of " + std::to_string(vocabulary_));
}

}  // namespace trireme::data::sequence
