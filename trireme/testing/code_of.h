// code_of() runs a call that must throw an Error and returns the error's code.

#pragma once

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::testing {

// If the call does not throw, the test fails.
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
