// Determines which document each token of a window belongs to, for Context::documents.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trireme/data/form.h"

namespace trireme::model {

// `tokens` is int64 (B, T). Documents are numbered from 0 in each row, and a token that ends a
// document still belongs to it.
at::Tensor documents_in(const at::Tensor& tokens, std::int64_t end);

// Undefined if attention is not limited to documents.
at::Tensor documents_in(const at::Tensor& input, const data::Form& form);

}  // namespace trireme::model
