// Which document each token of a window belongs to, for Context::documents.
//
// Threads: pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trireme/data/form.h"

namespace trireme::model {

// int64 (B, T) of tokens: documents are counted from 0 in each row, and a token that ends one still
// belongs to it.
at::Tensor documents_in(const at::Tensor& tokens, std::int64_t end);

// Undefined where the data's documents are not kept apart.
at::Tensor documents_in(const at::Tensor& input, const data::Form& form);

}  // namespace trireme::model
