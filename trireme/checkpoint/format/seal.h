// Seal compresses or encrypts the chunks of one part, or compresses and then encrypts them. Each
// chunk is independent, so that a reader can read a range without the rest.
//
// Encryption:    AES-256-GCM. Every part has its own key, derived from the user's key and a random
//                salt; a chunk's offset in the file is its nonce, so no nonce is used twice. The
//                checkpoint's id and the chunk's position in its tensor are authenticated, so
//                chunks and parts cannot be exchanged within a checkpoint or between two. The
//                manifest, which defines these positions, is signed with the same key
//                (manifest_text.h).
// Errors:        open() throws InvalidInput for the wrong key and Corrupt for bytes that were not
//                written with the key; Unsupported if this build lacks zstd.
// Thread safety: a value; its functions are pure.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trireme/base/bytes.h"
#include "trireme/checkpoint/format/manifest.h"
#include "trireme/net/auth/secret.h"

namespace trireme::checkpoint::format {

// What a reader requires of a checkpoint. Without a key, an encrypted checkpoint can be inspected
// and checked for damage, but its tensors cannot be read.
struct ReadOptions {
  std::optional<net::Secret> key{};
  // With a key: also accept checkpoints that are not signed.
  bool is_unauthenticated_allowed = false;
};

// How new parts are written, and what is required of existing checkpoints.
struct Sealing {
  bool is_compressed = false;
  int level = 1;  // zstd level
  std::optional<net::Secret> key{};
  bool is_unauthenticated_allowed = false;

  bool is_plain() const { return !is_compressed && !key; }
  ReadOptions reading() const { return {key, is_unauthenticated_allowed}; }
  // Throws Unsupported with a remedy if this build lacks zstd and compression is wanted.
  void expect_possible() const;
};

// Identifies a key to people and programs without revealing anything about it.
std::string key_id(const net::Secret& key);

// Proves that a holder of the key wrote the text for this purpose; 64 hexadecimal digits.
std::string signature(const net::Secret& key, std::string_view purpose, std::string_view text);
bool is_signed(const net::Secret& key, std::string_view purpose, std::string_view text,
               std::string_view signature);

class Seal {
 public:
  // The position of a chunk.
  struct Place {
    std::string_view tensor;
    const StoredPiece& piece;  // its box and range
    std::uint64_t chunk = 0;   // index within its piece
    std::uint64_t offset = 0;  // in the file
  };

  // For a part to be written; sets the fields of `file` that a reader needs.
  Seal(const Sealing& sealing, std::string id, StoredFile& file);
  // For a part to be read; `file` is its name in error messages.
  Seal(const StoredFile& stored, std::string id, const std::optional<net::Secret>& key,
       const std::string& file);

  Bytes close(ByteView raw, const Place& place) const;
  void open(ByteView stored, const Place& place, std::span<std::byte> out) const;

 private:
  Bytes beside(const Place& place) const;

  bool is_compressed_ = false;
  int level_ = 1;
  std::string id_;
  std::optional<std::array<std::byte, 32>> part_key_;
};

}  // namespace trireme::checkpoint::format
