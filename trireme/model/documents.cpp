#include "trireme/model/documents.h"

#include <ATen/ops/cumsum.h>
#include <ATen/ops/eq.h>

namespace trireme::model {

at::Tensor documents_in(const at::Tensor& tokens, std::int64_t end) {
  const at::Tensor is_end = tokens.eq(end).to(at::kLong);
  return is_end.cumsum(1) - is_end;
}

at::Tensor documents_in(const at::Tensor& input, const data::Form& form) {
  return form.document_end < 0 ? at::Tensor() : documents_in(input, form.document_end);
}

}  // namespace trireme::model
