// Converts between the element types of tensors and of files.
//
// Thread safety: pure functions.

#pragma once

#include <c10/core/ScalarType.h>

#include "trireme/checkpoint/format/dtype.h"

namespace trireme::checkpoint {

// Throws Unsupported for types that safetensors files do not have, such as complex numbers.
format::StoredDType to_dtype(at::ScalarType type);

at::ScalarType to_scalar_type(format::StoredDType dtype);

}  // namespace trireme::checkpoint
