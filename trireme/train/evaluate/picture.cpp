#include "trireme/train/evaluate/picture.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "trireme/base/check.h"

namespace trireme::train {

data::image::Pixels picture_grid(const at::Tensor& pictures, std::int64_t columns) {
  TRIREME_CHECK(pictures.dim() == 4 && columns > 0,
                "a grid requires images (N, C, H, W) and at least one column");
  const std::int64_t channels = pictures.size(1);
  TRIREME_CHECK(channels == 1 || channels == 3, "images with ", channels,
                " channels are not supported");
  const std::int64_t height = pictures.size(2), width = pictures.size(3);
  const std::int64_t rows = (pictures.size(0) + columns - 1) / columns;
  at::Tensor grid =
      at::zeros({rows * (height + 1) + 1, columns * (width + 1) + 1, channels}, at::kByte);
  const at::Tensor bytes =
      ((pictures.clamp(-1, 1) + 1) * 127.5F).round().to(at::kByte).permute({0, 2, 3, 1});
  for (std::int64_t i = 0; i < pictures.size(0); ++i) {
    grid.narrow(0, i / columns * (height + 1) + 1, height)
        .narrow(1, i % columns * (width + 1) + 1, width)
        .copy_(bytes[i]);
  }
  const std::uint8_t* const first = grid.const_data_ptr<std::uint8_t>();
  return {.channels = channels,
          .height = grid.size(0),
          .width = grid.size(1),
          .bytes = {first, first + grid.numel()}};
}

at::Tensor to_pixels(const at::Tensor& samples, const data::transform::TransformConfig& changes) {
  at::Tensor out = samples.to(at::kFloat);
  if (!changes.mean.empty()) {
    const auto by_channel = [&](const std::vector<float>& all) {
      return at::tensor(all).view({1, -1, 1, 1});
    };
    out = out * by_channel(changes.deviation) + by_channel(changes.mean);
  }
  if (changes.is_standardized) {
    const at::Tensor least = out.amin({1, 2, 3}, true), most = out.amax({1, 2, 3}, true);
    out = (out - least) / (most - least).clamp_min(1e-12);
  }
  return out.clamp(0, 1);
}

}  // namespace trireme::train
