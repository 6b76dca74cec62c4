// Goal:   a failed call of OpenSSL is an error that names the operation.
// Method: the results that OpenSSL's functions return.

#include "trireme/base/openssl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme {
namespace {

TEST(ExpectOpenssl, ThrowsAnErrorThatNamesTheOperation) {
  EXPECT_NO_THROW(expect_openssl(1, "SHA-256"));
  for (const int result : {0, -1}) {
    try {
      expect_openssl(result, "SHA-256");
      ADD_FAILURE() << result;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Io);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("OpenSSL: SHA-256 failed"));
    }
  }
}

}  // namespace
}  // namespace trireme
