// Goal:   a Secret comes from the source that the user specified, is refused if other users could
//         read it, and appears in no message.
// Method: files of every mode and content in a temporary folder; a simulated environment.

#include "trireme/net/auth/secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <new>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::net {
namespace {

const std::string kHex = "00112233445566778899aabbccddeeff0123456789abcdefFEDCBA9876543210";

class SecretFile : public ::testing::Test {
 protected:
  const TemporaryFolder folder_{"secret-test"};
  const std::string path_ = (folder_.path() / "secret").string();

  void write(std::string_view content, mode_t mode = 0600) const {
    write_file_atomically(path_, content);
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }

  Error refusal() const {
    try {
      Secret::from_file(path_);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "accepted";
    return Error(ErrorCode::Misuse, "");
  }
};

bool equal(const Secret& a, const Secret& b) {
  return std::ranges::equal(a.bytes(), b.bytes());
}

TEST(Secret, IsParsedFromHexAndGeneratedFresh) {
  const Secret made = Secret::generate();
  EXPECT_EQ(made.bytes().size(), Secret::kSize);
  EXPECT_TRUE(equal(Secret::from_hex(made.to_hex()), made));
  EXPECT_FALSE(equal(Secret::generate(), made));
}

TEST(Secret, InvalidTextIsRefusedAndNotRepeated) {
  for (const std::string& text : {std::string(), kHex.substr(1), kHex + "00", kHex.substr(0, 62),
                                  "zz" + kHex.substr(2), std::string(64, ' ')}) {
    try {
      Secret::from_hex(text);
      ADD_FAILURE() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      EXPECT_NE(error.message().find("openssl rand -hex 32"), std::string::npos);
      EXPECT_EQ(error.message().find("2233445566"), std::string::npos) << error.what();
    }
  }
}

TEST(Secret, IsWipedWhenItIsDestroyed) {
  alignas(Secret) std::byte room[sizeof(Secret)];
  Secret* const secret = new (room) Secret(Secret::generate());
  const volatile std::byte* left = room;
  secret->~Secret();
  for (std::size_t i = 0; i < sizeof(room); ++i) EXPECT_EQ(int(left[i]), 0);
}

TEST_F(SecretFile, IsSavedPrivatelyAndLoaded) {
  const Secret made = Secret::generate();
  made.save(path_);
  struct stat info{};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_TRUE(equal(Secret::from_file(path_), made));
}

TEST_F(SecretFile, SurroundingBlanksAreIgnored) {
  write("\n  " + kHex + " \r\n");
  EXPECT_TRUE(equal(Secret::from_file(path_), Secret::from_hex(kHex)));
}

TEST_F(SecretFile, AFileThatOthersCanReadOrWriteIsRefused) {
  for (mode_t mode : {0644, 0640, 0604, 0660, 0602, 0601, 0620}) {
    write(kHex, mode);
    const Error error = refusal();
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << std::oct << mode;
    EXPECT_NE(error.message().find("chmod 600 '" + path_ + "'"), std::string::npos);
  }
  for (mode_t mode : {0600, 0400}) {
    write(kHex, mode);
    EXPECT_TRUE(equal(Secret::from_file(path_), Secret::from_hex(kHex)));
  }
}

TEST_F(SecretFile, AnotherUsersFileIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "NEEDS ROOT TO GIVE A FILE AWAY, NOT TESTED";
  write(kHex);
  ASSERT_EQ(chown(path_.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_NE(refusal().message().find("belongs to another user"), std::string::npos);
}

TEST_F(SecretFile, MissingEmptyOrForeignContentIsReported) {
  EXPECT_EQ(refusal().code(), ErrorCode::NotFound);
  for (const std::string& content :
       {std::string(), std::string("password"), kHex + kHex, std::string(100'000, 'a')}) {
    write(content);
    const Error error = refusal();
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_NE(error.message().find(path_), std::string::npos);
    EXPECT_EQ(error.message().find("2233445566"), std::string::npos) << error.what();
  }
  ASSERT_EQ(unlink(path_.c_str()), 0);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(refusal().code(), ErrorCode::InvalidInput) << "a pipe must not block";
}

TEST_F(SecretFile, EnvironmentNamesASecretOrAFile) {
  std::map<std::string, std::string> variables;
  const auto lookup = [&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  };
  EXPECT_FALSE(Secret::from_environment(lookup).has_value());
  variables["TRIREME_SECRET"] = "";
  EXPECT_FALSE(Secret::from_environment(lookup).has_value());

  const Secret in_file = Secret::generate();
  in_file.save(path_);
  variables["TRIREME_SECRET_FILE"] = path_;
  EXPECT_TRUE(equal(Secret::from_environment(lookup).value(), in_file));
  variables["TRIREME_SECRET"] = kHex;
  EXPECT_TRUE(equal(Secret::from_environment(lookup).value(), Secret::from_hex(kHex)));

  variables["TRIREME_SECRET"] = "short";
  try {
    Secret::from_environment(lookup);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(error.message().starts_with("TRIREME_SECRET: ")) << error.what();
    EXPECT_EQ(error.message().find("short"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trireme::net
