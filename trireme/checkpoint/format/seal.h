// Seal is how the chunks of one part lie on disk where they are not plain: compressed, encrypted,
// or the one and then the other. Each chunk stands alone, so that a range is read without the rest.
//
// Encryption: AES-256-GCM. Every part has a key of its own, made of the user's key and a random
//             salt, and in it a chunk's place in the file is its nonce: no nonce is used twice.
//             The checkpoint's id and the chunk's place in its tensor are authenticated, so that
//             chunks and parts cannot change places, within a checkpoint or between two.
// Failure:    open() throws InvalidInput for the wrong key and Corrupt for bytes that no holder of
//             the key wrote; Unsupported where this build lacks zstd or OpenSSL.
// Threads:    a value; its functions are pure.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trireme/base/bytes.h"
#include "trireme/checkpoint/format/manifest.h"
#include "trireme/net/secret.h"

namespace trireme::checkpoint::format {

// How new parts are to be written.
struct Sealing {
  bool is_compressed = false;
  int level = 1;  // of zstd
  std::optional<net::Secret> key{};

  bool is_plain() const { return !is_compressed && !key; }
  // Throws Unsupported with a remedy where this build cannot.
  void expect_possible() const;
};

// By which people and programs tell keys apart; says nothing about the key.
std::string key_id(const net::Secret& key);

class Seal {
 public:
  // Where a chunk belongs.
  struct Place {
    std::string_view tensor;
    std::int64_t begin = 0;    // of its piece
    std::uint64_t chunk = 0;   // within its piece
    std::uint64_t offset = 0;  // in the file
  };

  // Of a part to be written; `file` gets what a reader needs to know.
  Seal(const Sealing& sealing, std::string id, StoredFile& file);
  // Of a part that was; `file` names it in messages.
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
