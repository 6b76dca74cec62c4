// Goal:   `trireme tokenizer` trains a vocabulary, encodes with it and decodes again.
// Method: the real command on a small text; decoding the tokens returns the text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/commands.h"

namespace trireme::cli {
namespace {

using ::testing::HasSubstr;

std::string told(const std::vector<std::string>& words, int code = 0) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(tokenizer_command().run(words), code);
  const std::string error = ::testing::internal::GetCapturedStderr();
  return ::testing::internal::GetCapturedStdout() + error;
}

TEST(TokenizerCommand, TrainsEncodesAndDecodes) {
  const TemporaryFolder folder("tokenizer-command");
  const std::string text = (folder.path() / "a.txt").string();
  const std::string bpe = (folder.path() / "bpe").string();
  const std::string tokens = (folder.path() / "a.bin").string();
  write_file_atomically(text, "row row row your boat\nrow by row\n");
  EXPECT_THAT(told({"train", text, "--vocabulary", "260", "--to", bpe}), HasSubstr("260 tokens"));
  EXPECT_THAT(told({"encode", bpe, text, "--to", tokens}), HasSubstr("tokens of 16 bits"));
  EXPECT_EQ(told({"decode", bpe, tokens}), read_file(text));
  told({"encode", bpe, text, "--documents", "lines", "--end", "<|endoftext|>", "--to", tokens});
  EXPECT_EQ(told({"decode", bpe, tokens}),
            "row row row your boat<|endoftext|>row by row<|endoftext|>");
  EXPECT_EQ(told({"encode", bpe, "--text", "<|endoftext|>"}), "0\n");
}

TEST(TokenizerCommand, ReportsMissingArguments) {
  const TemporaryFolder folder("tokenizer-command");
  EXPECT_THAT(told({"learn", "x"}, 2), HasSubstr("none of train, encode, decode"));
  EXPECT_THAT(told({"train", "x"}, 2), HasSubstr("--to is missing"));
  EXPECT_THAT(told({"encode", folder.path().string()}, 2), HasSubstr("give texts"));
  EXPECT_THAT(told({"encode", folder.path().string(), "--text", "x"}, 2),
              HasSubstr("holds no tokenizer"));
}

}  // namespace
}  // namespace trireme::cli
