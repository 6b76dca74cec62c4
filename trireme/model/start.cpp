#include "trireme/model/start.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <numbers>

#include "trireme/base/check.h"
#include "trireme/base/philox.h"
#include "trireme/model/model.h"

namespace trireme::model {
namespace {

// Makes these streams independent of those of dropout and data, which share the seed.
constexpr std::uint64_t kPurpose = 0x706172616D657465;

std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3;
  }
  return hash;
}

// Two elements share a block, with 64 bits each, so that float64 models have full precision and
// start with the same numbers as float32 models.
double uniform_at(const PhiloxBlock& block, std::int64_t element) {
  const std::size_t at = element % 2 == 0 ? 0 : 2;
  return uniform_double(std::uint64_t{block[at]} << 32 | block[at + 1]);
}

double normal_at(const PhiloxBlock& block, std::int64_t element) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform_at(block, 0)));
  const double angle = 2.0 * std::numbers::pi * uniform_at(block, 1);
  return radius * (element % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

template <class Number>
void fill_random(Number* out, std::int64_t begin, std::int64_t count, const Start& start,
                 PhiloxKey key, std::uint64_t stream) {
  const bool is_normal = start.kind == Start::Kind::Normal;
  at::parallel_for(0, count, 1 << 14, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t element = begin + i;
      const auto block =
          philox(key, philox_counter(static_cast<std::uint64_t>(element / 2), stream));
      const double value =
          is_normal ? normal_at(block, element) : 2.0 * uniform_at(block, element) - 1.0;
      out[i] = static_cast<Number>(value * start.value);
    }
  });
}

}  // namespace

Start default_start(const std::string& name, const at::Tensor& parameter,
                    const at::Tensor& weight) {
  const at::Tensor& shape = name.ends_with("bias") && weight.defined() ? weight : parameter;
  if (shape.dim() < 2) return Start::constant(name.ends_with("bias") ? 0.0 : 1.0);
  const auto inputs = static_cast<double>(shape.numel() / std::max<std::int64_t>(1, shape.size(0)));
  return Start::uniform(1.0 / std::sqrt(std::max(1.0, inputs)));
}

void fill_slice(const at::Tensor& values, std::int64_t begin, const Start& start,
                std::uint64_t seed, const std::string& name) {
  TRIREME_CHECK(values.is_contiguous(), "a slice of ", name, " is not contiguous");
  const c10::NoGradGuard no_grad;
  if (start.kind == Start::Kind::Keep) return;
  if (start.kind == Start::Kind::Constant) {
    values.fill_(start.value);
    return;
  }
  const bool is_wide = values.scalar_type() == at::kDouble;
  const bool is_direct =
      values.device().is_cpu() && (is_wide || values.scalar_type() == at::kFloat);
  const at::Tensor out =
      is_direct ? values : at::empty({values.numel()}, is_wide ? at::kDouble : at::kFloat);
  const PhiloxKey key = philox_key(seed ^ kPurpose);
  if (is_wide) {
    fill_random(out.data_ptr<double>(), begin, out.numel(), start, key, hash_of(name));
  } else {
    fill_random(out.data_ptr<float>(), begin, out.numel(), start, key, hash_of(name));
  }
  if (!is_direct) values.copy_(out.view(values.sizes()));
}

void fill(const at::Tensor& tensor, const Start& start, std::uint64_t seed,
          const std::string& name) {
  const c10::NoGradGuard no_grad;
  if (tensor.is_contiguous()) {
    fill_slice(tensor.detach().view({-1}), 0, start, seed, name);
  } else if (start.kind != Start::Kind::Keep) {
    const at::Tensor whole = at::empty(tensor.sizes(), tensor.options());
    fill_slice(whole.view({-1}), 0, start, seed, name);
    tensor.copy_(whole);
  }
}

void initialize(Model& model, std::uint64_t seed) {
  for (const auto& item : model.named_parameters()) {
    fill(item.value(), model.start_of(item.key(), item.value()), seed, item.key());
  }
}

}  // namespace trireme::model
