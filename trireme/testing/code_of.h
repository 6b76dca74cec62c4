// code_of() runs something that must throw an Error, and says which code it has.

#pragma once

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::testing {

// Not throwing is a failure of the test.
template <class Call>
ErrorCode code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "did not throw";
  return ErrorCode::Misuse;
}

}  // namespace trireme::testing
