// Goal:   compressed and encrypted data is read back bitwise identical; a wrong key is reported, a
//         changed byte is reported with file and offset. (forgery_test covers forgery.)
// Method: seals the bytes of a checkpoint in every way; then exchanges keys and flips bytes.

#include "trireme/checkpoint/format/seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/checkpoint/format/stored_bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/format/aes_gcm.h"
#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/reshard.h"
#include "trireme/checkpoint/format/verify.h"
#include "trireme/checkpoint/format/zstd/squeeze.h"

namespace trireme::checkpoint::format {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool can_compress() {
  try {
    Sealing{.is_compressed = true}.expect_possible();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The checkpoint of stored_bytes.h, sealed.
fs::path sealed(const fs::path& folder, std::int64_t step, const Sealing& sealing, int parts = 2) {
  fs::create_directory(folder / "plain");
  const Reader plain(store_bytes(folder / "plain", step));
  return reshard(plain, {.folder = folder, .parts = parts, .sealing = sealing});
}

Bytes all_of(const Reader& reader, const std::string& name) {
  const StoredTensor& tensor = reader.tensor(name);
  Bytes bytes(tensor.size());
  reader.read(tensor, 0, tensor.count(), bytes.data());
  return bytes;
}

Error error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::Misuse, "nothing was thrown");
}

void flip_sealed(const fs::path& file, std::size_t at) {
  std::string bytes = read_file(file);
  bytes.at(at) ^= 1;
  write_file_atomically(file, bytes);
}

TEST(CheckpointSeal, IsReadBackBitwiseIdentical) {
  if (!can_compress()) GTEST_SKIP() << "built without zstd";
  const net::Secret key = net::Secret::generate();
  std::int64_t step = 0;
  for (const bool is_compressed : {false, true}) {
    for (const bool is_encrypted : {false, true}) {
      const TemporaryFolder folder("seal");
      Sealing sealing{.is_compressed = is_compressed};
      if (is_encrypted) sealing.key = key;
      const fs::path path = sealed(folder.path(), ++step, sealing, 3);
      EXPECT_THAT(damage_in(path), IsEmpty());
      const Reader reader(path, sealing.reading());
      EXPECT_EQ(all_of(reader, "a"), bytes_a());
      EXPECT_EQ(all_of(reader, "b"), Bytes(12, std::byte{9}));
      Bytes some(1000);
      reader.read(reader.tensor("a"), kCutA - 500, 1000, some.data());
      EXPECT_TRUE(std::equal(some.begin(), some.end(), bytes_a().begin() + kCutA - 500));
      EXPECT_EQ(reader.manifest().files[0].size < 1u << 20, is_compressed);
    }
  }
}

TEST(CheckpointSeal, DifferentKeysAreDistinguished) {
  const TemporaryFolder folder("seal");
  const net::Secret key = net::Secret::generate(), other = net::Secret::generate();
  const fs::path path = sealed(folder.path(), 1, {.key = key});
  const Error wrong = error_of([&] { Reader reader(path, {.key = other}); });
  EXPECT_EQ(wrong.code(), ErrorCode::InvalidInput);
  EXPECT_THAT(wrong.message(), HasSubstr("the one given is " + key_id(other)));
  const Reader blind(path);  // the manifest can be read without the key
  EXPECT_EQ(blind.manifest().tensors.size(), 2u);
  const Error none = error_of([&] { all_of(blind, "a"); });
  EXPECT_EQ(none.code(), ErrorCode::InvalidInput);
  EXPECT_THAT(none.message(), HasSubstr("is encrypted with the key " + key_id(key)));
  // The file does not contain the tensor in plain form.
  const std::string bytes = read_file(path / "part-00000.sealed");
  const Bytes clear = bytes_a();
  EXPECT_EQ(bytes.find(text_of(ByteView(clear).first(32))), std::string::npos);
}

TEST(CheckpointSeal, AChangedByteIsReported) {
  if (!can_compress()) GTEST_SKIP() << "built without zstd";
  const TemporaryFolder folder("seal");
  const net::Secret key = net::Secret::generate();
  const fs::path path = sealed(folder.path(), 1, {.is_compressed = true, .key = key});
  flip_sealed(path / "part-00000.sealed", 20);
  const Error error = error_of([&] { all_of(Reader(path, {.key = key}), "a"); });
  EXPECT_EQ(error.code(), ErrorCode::Corrupt);
  EXPECT_THAT(error.message(), HasSubstr("part-00000.sealed, tensor a: bytes 0 to "));
  EXPECT_THAT(damage_in(path), ::testing::SizeIs(1));  // found without the key
}

TEST(CheckpointSeal, ExpandRefusesInvalidData) {
  if (!can_compress()) GTEST_SKIP() << "built without zstd";
  const Bytes raw(1000, std::byte{3});
  const Bytes small = zstd::squeeze(raw, 1);
  Bytes out(1000);
  zstd::expand(small, out);
  EXPECT_EQ(out, raw);
  Bytes longer(1001);
  EXPECT_THROW(zstd::expand(small, longer), Error);
  EXPECT_THROW(zstd::expand(ByteView(raw).first(40), out), Error);
  const AesKey aes{};
  const Bytes secret = encrypt(aes, {}, small, raw);
  EXPECT_EQ(secret.size(), raw.size() + kProofSize);
  EXPECT_TRUE(decrypt(aes, {}, small, secret, out));
  EXPECT_FALSE(decrypt(aes, {}, raw, secret, out));
  EXPECT_FALSE(decrypt(aes, {}, small, ByteView(secret).first(9), out));
}

}  // namespace
}  // namespace trireme::checkpoint::format
