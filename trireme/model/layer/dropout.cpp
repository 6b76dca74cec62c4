#include "trireme/model/layer/dropout.h"

#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "trireme/base/check.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/layer/kernel/dropout.h"

namespace trireme::model {
namespace {

// `places`: on the device of x.
at::Tensor dropped(const at::Tensor& x, const kernel::DropoutMask& mask, const at::Tensor& places,
                   std::int64_t first) {
  const at::Tensor in = x.contiguous();
  const at::Tensor out = at::empty_like(in, at::MemoryFormat::Contiguous);
  const std::int64_t rows = in.size(0);
  const kernel::DropoutRows all{
      .from = in.const_data_ptr(),
      .to = out.mutable_data_ptr(),
      .type = comm::dtype_of(in.scalar_type()),
      .rows = rows,
      .columns = rows == 0 ? 0 : in.numel() / rows,
      .first = first,
      .places = places.defined() ? places.const_data_ptr<std::int64_t>() : nullptr};
  in.is_cpu() ? kernel::drop(mask, all) : kernel::drop(mask, all, current_stream(in.device()));
  return out;
}

struct Kept : torch::CustomClassHolder {
  Kept(const kernel::DropoutMask& m, at::Tensor p, std::int64_t f)
      : mask(m), places(std::move(p)), first(f) {}
  kernel::DropoutMask mask;
  at::Tensor places;
  std::int64_t first;
};

struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x,
                            const c10::intrusive_ptr<Kept>& kept) {
    ctx->saved_data["kept"] = c10::IValue::make_capsule(kept);
    return dropped(x, kept->mask, kept->places, kept->first);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& gradients) {
    const auto holder = ctx->saved_data["kept"].toCapsule();
    const Kept& kept = static_cast<const Kept&>(*holder);
    return {dropped(gradients[0], kept.mask, kept.places, kept.first), at::Tensor()};
  }
};

}  // namespace

at::Tensor dropout(const at::Tensor& x, double p, int layer, const Context& context,
                   std::int64_t first) {
  TRIREME_CHECK(p >= 0 && p < 1, "a dropout probability of ", p);
  if (!context.is_training || x.numel() == 0) return x;
  const auto mask = kernel::DropoutMask::of(context.seed, context.step, layer, p);
  if (mask.threshold == 0) return x;
  TRIREME_CHECK(mask.threshold < 65536, "a dropout probability of ", p, " keeps nothing");
  at::Tensor places = context.places;
  if (places.defined()) {
    TRIREME_CHECK_EQ(places.numel(), x.size(0), "places of a batch");
    places = places.to(x.device(), /*non_blocking=*/true).contiguous();
  }
  return Dropout::apply(x, c10::make_intrusive<Kept>(mask, places, first));
}

}  // namespace trireme::model
