// Goal:   every exception that ends a program becomes an Error with the path and a remedy, and an
//         exit status that distinguishes user errors.
// Method: exceptions that the standard library throws for real paths, and some made by hand.

#include "trireme/base/exit_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <new>
#include <tuple>

namespace trireme {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Error thrown_by(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& thrown) {
    return as_error(thrown);
  }
  return Error(ErrorCode::Misuse, "nothing was thrown");
}

TEST(ExitStatus, AnImpossiblePathIsAUserError) {
  const Error below_a_file = thrown_by([] { fs::create_directories("/dev/null/x"); });
  EXPECT_EQ(below_a_file.code(), ErrorCode::InvalidInput);
  EXPECT_THAT(below_a_file.message(), HasSubstr("/dev/null"));
  EXPECT_THAT(below_a_file.message(), HasSubstr("name another"));
  const std::string name(300, 'x');
  const Error long_name = thrown_by([&] { std::ignore = fs::is_directory(name); });
  EXPECT_EQ(long_name.code(), ErrorCode::InvalidInput);
  EXPECT_THAT(long_name.message(), HasSubstr(name));
  EXPECT_THAT(long_name.message(), HasSubstr("shorter"));
  const Error missing = thrown_by([] { std::ignore = fs::canonical("/no/such/folder"); });
  EXPECT_EQ(missing.code(), ErrorCode::NotFound);
  for (const Error& error : {below_a_file, long_name, missing}) EXPECT_EQ(exit_status(error), 2);
}

TEST(ExitStatus, OtherRefusalsKeepTheirCode) {
  const auto refused = [](int number) {
    return as_error(fs::filesystem_error("copying", "/a", "/b",
                                         std::error_code(number, std::generic_category())));
  };
  EXPECT_EQ(refused(ENOSPC).code(), ErrorCode::Exhausted);
  EXPECT_EQ(refused(EIO).code(), ErrorCode::Io);
  EXPECT_THAT(refused(EIO).message(), HasSubstr("/a and /b"));
  EXPECT_EQ(exit_status(refused(EIO)), 1);
  EXPECT_EQ(as_error(std::bad_alloc()).code(), ErrorCode::Exhausted);
  const Error other = as_error(std::runtime_error("why"));
  EXPECT_EQ(other.message(), "why");
  EXPECT_EQ(exit_status(other), 1);
  EXPECT_EQ(as_error(Error(ErrorCode::Diverged, "x")).code(), ErrorCode::Diverged);
}

TEST(ExitStatus, IsTwoOnlyForInvalidInputAndNotFound) {
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const bool is_users = code == ErrorCode::InvalidInput || code == ErrorCode::NotFound;
    EXPECT_EQ(exit_status(Error(code, "")), is_users ? 2 : 1) << name_of(code);
  }
}

}  // namespace
}  // namespace trireme
