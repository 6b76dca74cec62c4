#include "trireme/checkpoint/format/seal.h"

#include <algorithm>
#include <cstring>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/hash/sha256.h"
#include "trireme/checkpoint/format/aes_gcm.h"
#include "trireme/checkpoint/format/zstd/squeeze.h"

namespace trireme::checkpoint::format {
namespace {

constexpr std::string_view kIdPurpose = "trireme checkpoint key id";
constexpr std::string_view kPartPurpose = "trireme checkpoint part ";
constexpr std::string_view kSigningPurpose = "trireme checkpoint signing";
constexpr std::size_t kSaltSize = 16;
constexpr std::size_t kIdSize = 8;

AesKey part_key(const net::Secret& key, const std::string& salt) {
  return hmac_sha256(key.bytes(), bytes_of(std::string(kPartPurpose) + salt));
}

Nonce nonce_at(std::uint64_t offset) {
  Nonce nonce{};
  std::memcpy(nonce.data(), &offset, sizeof offset);
  return nonce;
}

}  // namespace

void Sealing::expect_possible() const {
  if (is_compressed) zstd::expect_zstd();
}

std::string key_id(const net::Secret& key) {
  const Sha256Digest digest = hmac_sha256(key.bytes(), bytes_of(kIdPurpose));
  return to_hex(ByteView(digest).first(kIdSize));
}

std::string signature(const net::Secret& key, std::string_view purpose, std::string_view text) {
  const Sha256Digest signing_key = hmac_sha256(key.bytes(), bytes_of(kSigningPurpose));
  ByteWriter message;
  message.put_text(purpose).append(bytes_of(text));
  return to_hex(hmac_sha256(signing_key, message.bytes()));
}

bool is_signed(const net::Secret& key, std::string_view purpose, std::string_view text,
               std::string_view given) {
  return equal_in_constant_time(bytes_of(signature(key, purpose, text)), bytes_of(given));
}

Seal::Seal(const Sealing& sealing, std::string id, StoredFile& file)
    : is_compressed_(sealing.is_compressed), level_(sealing.level), id_(std::move(id)) {
  file.is_compressed = is_compressed_;
  if (!sealing.key) return;
  file.key_id = format::key_id(*sealing.key);
  file.salt = secure_random_hex(kSaltSize);
  part_key_ = part_key(*sealing.key, file.salt);
}

Seal::Seal(const StoredFile& stored, std::string id, const std::optional<net::Secret>& key,
           const std::string& file)
    : is_compressed_(stored.is_compressed), id_(std::move(id)) {
  if (stored.key_id.empty()) return;
  if (!key) {
    throw Error(ErrorCode::InvalidInput,
                file + " is encrypted with the key " + stored.key_id +
                    ": name its file with checkpoint.key_file, or with --key");
  }
  if (format::key_id(*key) != stored.key_id) {
    throw Error(ErrorCode::InvalidInput, file + " is encrypted with the key " + stored.key_id +
                                             ", and the one given is " + format::key_id(*key));
  }
  part_key_ = part_key(*key, stored.salt);
}

Bytes Seal::beside(const Place& place) const {
  ByteWriter writer;
  writer.put_text(id_).put_text(place.tensor);
  if (const auto& box = place.piece.box) {
    for (const auto& numbers : {box->begin, box->sizes}) {
      writer.put<std::uint64_t>(numbers.size());
      for (const std::int64_t number : numbers) writer.put(number);
    }
  }
  writer.put(place.piece.begin).put(place.chunk);
  return std::move(writer).take();
}

Bytes Seal::close(ByteView raw, const Place& place) const {
  Bytes squeezed;
  if (is_compressed_) squeezed = zstd::squeeze(raw, level_);
  if (!part_key_) return squeezed;
  return encrypt(*part_key_, nonce_at(place.offset), beside(place),
                 is_compressed_ ? ByteView(squeezed) : raw);
}

void Seal::open(ByteView stored, const Place& place, std::span<std::byte> out) const {
  Bytes clear;
  if (part_key_) {
    const std::size_t size = stored.size() - std::min(stored.size(), kProofSize);
    std::span<std::byte> target = out;
    if (is_compressed_) {
      clear.resize(size);
      target = clear;
    }
    if (!decrypt(*part_key_, nonce_at(place.offset), beside(place), stored, target)) {
      throw Error(ErrorCode::Corrupt, "was not written there by a holder of its key");
    }
    if (!is_compressed_) return;
    stored = clear;
  }
  zstd::expand(stored, out);
}

}  // namespace trireme::checkpoint::format
