// Goal:   shards of tokens, with llm.c's header and without, become windows that stay within their
//         shard; a truncated or mislabelled shard is rejected with its name and the offset.
// Method: shards generated here, all prefixes of one, wrong headers.

#include "trireme/data/sequence/token_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/mapped_file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/sequence/token_shard.h"

namespace trireme::data::sequence {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Number>
Bytes tokens(std::initializer_list<int> all) {
  ByteWriter out;
  for (int token : all) out.put(static_cast<Number>(token));
  return std::move(out).take();
}

Bytes with_header(int magic, int count, const Bytes& content) {
  ByteWriter out;
  out.put(std::int32_t{magic}).put(std::int32_t{1}).put(std::int32_t{count});
  out.append(Bytes(1024 - 12)).append(content);
  return std::move(out).take();
}

class TokenFiles : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const Bytes& content) {
    write_file_atomically(folder_.path() / name, content);
    return folder_.path() / name;
  }
  std::string error_of(const Bytes& content, TokenType type = TokenType::Uint16) {
    try {
      const TokenShard shard(write("bad.bin", content), type, 100);
      std::vector<std::int64_t> all(static_cast<std::size_t>(shard.count()));
      shard.read(0, shard.count(), all.data());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt);
      return error.message();
    }
    return "";
  }

  TemporaryFolder folder_{"tokens-test"};
};

TEST_F(TokenFiles, AreReadInBothWidthsAndForms) {
  std::int64_t out[2];
  const auto expect = [&](const Bytes& content, TokenType type) {
    const TokenShard shard(write("a.bin", content), type, 100);
    ASSERT_EQ(shard.count(), 3);
    shard.read(1, 2, out);
    EXPECT_THAT(out, ElementsAre(8, 9));
    EXPECT_THROW(shard.read(2, 2, out), Error);
    EXPECT_THROW(shard.read(-1, 2, out), Error);
  };
  expect(tokens<std::uint16_t>({7, 8, 9}), TokenType::Uint16);
  expect(tokens<std::uint32_t>({7, 8, 9}), TokenType::Uint32);
  expect(with_header(20240520, 3, tokens<std::uint16_t>({7, 8, 9})), TokenType::Uint16);
  expect(with_header(20240801, 3, tokens<std::uint32_t>({7, 8, 9})), TokenType::Uint32);
}

TEST_F(TokenFiles, WindowsStayWithinTheirShard) {
  std::filesystem::create_directory(folder_.path() / "set");
  write("set/b.bin", tokens<std::uint16_t>({10, 11, 12, 13, 14}));
  write("set/a.bin", tokens<std::uint16_t>({0, 1, 2, 3, 4, 5, 6, 7}));
  write("set/c.bin", tokens<std::uint16_t>({20}));
  write("set/notes.txt", to_bytes("nothing"));
  TokensConfig config{.train = {folder_.path() / "set"}, .vocabulary = 100, .context = 3};
  const Sets sets = open_tokens(config);
  EXPECT_EQ(sets.test, nullptr);
  ASSERT_EQ(sets.train->count(), 3);  // two of a, one of b, none of c
  EXPECT_EQ(sets.train->form().classes, 100);
  std::int64_t input[3];
  std::int64_t target[3];
  sets.train->read(1, {}, input, target);
  EXPECT_THAT(input, ElementsAre(3, 4, 5));
  EXPECT_THAT(target, ElementsAre(4, 5, 6));
  sets.train->read(2, {}, input, target);
  EXPECT_THAT(input, ElementsAre(10, 11, 12));
  EXPECT_THAT(target, ElementsAre(11, 12, 13));
  EXPECT_THROW(sets.train->read(3, {}, input, target), Error);

  config.stride = 1;
  config.test = {folder_.path() / "set" / "b.bin"};
  EXPECT_EQ(open_tokens(config).train->count(), 5 + 2);
  EXPECT_EQ(open_tokens(config).test->count(), 2);
}

TEST_F(TokenFiles, RefusesEveryTornFile) {
  const Bytes whole = with_header(20240520, 3, tokens<std::uint16_t>({7, 8, 9}));
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const std::string text = error_of(Bytes(whole.begin(), whole.begin() + static_cast<int>(size)));
    EXPECT_THAT(text, HasSubstr("bad.bin: at byte ")) << size;
  }
  EXPECT_THAT(error_of(tokens<std::uint8_t>({1, 2, 3})), HasSubstr("at byte 3"));
  EXPECT_THAT(error_of(tokens<std::uint16_t>({1, 2, 3}), TokenType::Uint32),
              HasSubstr("at byte 6"));
}

TEST_F(TokenFiles, NamesWhatIsOutsideTheVocabulary) {
  EXPECT_THAT(error_of(tokens<std::uint16_t>({1, 100})), HasSubstr("at byte 2: token 100"));
  EXPECT_THAT(error_of(with_header(20240520, 1, tokens<std::uint16_t>({500}))),
              HasSubstr("at byte 1024: token 500"));
  // 16-bit tokens read as 32-bit ones are far outside of any vocabulary.
  EXPECT_THAT(error_of(tokens<std::uint16_t>({1, 2}), TokenType::Uint32), HasSubstr("at byte 0"));
  EXPECT_THAT(error_of(with_header(20240801, 2, tokens<std::uint16_t>({1, 2, 3, 4}))),
              HasSubstr("uint32"));
}

TEST_F(TokenFiles, SaysWhatIsMissing) {
  EXPECT_THROW(open_tokens({}), Error);
  EXPECT_THROW(open_tokens({.train = {folder_.path()}}), Error);
  EXPECT_THROW(open_tokens({.train = {folder_.path() / "absent.bin"}}), Error);
  EXPECT_THROW(open_tokens({.train = {write("short.bin", tokens<std::uint16_t>({1}))}}), Error);
}

TEST_F(TokenFiles, MappedFilesMoveAndMayBeEmpty) {
  MappedFile empty(write("empty", {}));
  EXPECT_TRUE(empty.bytes().empty());
  MappedFile full(write("full", to_bytes("text")));
  empty = std::move(full);
  EXPECT_EQ(text_of(empty.bytes()), "text");
  EXPECT_THROW(MappedFile(folder_.path()), Error);
}

}  // namespace
}  // namespace trireme::data::sequence
