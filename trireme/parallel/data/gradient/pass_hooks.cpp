#include "trireme/parallel/data/gradient/pass_hooks.h"

namespace trireme::parallel::data {

at::Tensor PassHooks::copy_of(const at::Tensor& parameter) const {
  const std::optional<std::size_t> i = parts_.model->index_of(parameter);
  if (!i) return {};
  const StorageLayout& layout = (*parts_.storage)->layout();
  return layout.copies.at(layout.plan.bucket_of[*i], layout.plan.range_of[*i])
      .view(parameter.sizes());
}

at::Tensor PassHooks::lend(const at::Tensor& parameter) {
  const std::optional<std::size_t> i = parts_.model->index_of(parameter);
  return *parts_.gradients && i ? (*parts_.gradients)->lend(*i) : at::Tensor();
}

bool PassHooks::add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                         const at::Tensor& values) {
  const std::optional<std::size_t> i = parts_.model->index_of(parameter);
  return *parts_.gradients && i && (*parts_.gradients)->add_rows(*i, rows, values);
}

}  // namespace trireme::parallel::data
