#include "trireme/train/evaluate/class_sampler.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <numeric>
#include <span>

#include "trireme/base/check.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/data/labels.h"
#include "trireme/model/kind/autoencoder.h"
#include "trireme/model/kind/gan.h"

namespace trireme::train {
namespace {

// Makes these random numbers differ from all others that use the same seed.
constexpr std::uint64_t kCodePurpose = 0x434F4445;
// Samples per class whose codes are read.
constexpr std::int64_t kFitted = 1000;

ClassSampler gan_sampler(std::shared_ptr<model::Gan> gan, const data::Form& form) {
  const std::int64_t classes = gan->classes();
  return {.classes = classes,
          .class_names = form.class_names,
          .sample = [gan = std::move(gan)](const at::Tensor& labels, std::uint64_t seed) {
            const c10::InferenceMode guard;
            return gan->sample(labels, seed);
          }};
}

// Reads samples of a source into a tensor (N, sizes of a sample).
at::Tensor read_all(const data::Source& source, const std::vector<std::int64_t>& samples) {
  const data::Form& form = source.form();
  std::vector<std::int64_t> sizes = form.input_sizes;
  sizes.insert(sizes.begin(), std::ssize(samples));
  at::Tensor inputs = at::empty(sizes, form.input_type);
  std::vector<std::byte> target(form.target_bytes());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    source.read(samples[i], {.sample = samples[i]}, inputs[static_cast<std::int64_t>(i)].data_ptr(),
                target.data());
  }
  return inputs;
}

// The codes of the samples of each class.
std::vector<Normal> codes_of(model::Autoencoder& model, const data::Source& source) {
  const std::int64_t classes = source.form().classes;
  const std::vector<std::int64_t> labels =
      classes > 0 ? data::labels_of(source, "drawing by class")
                  : std::vector<std::int64_t>(static_cast<std::size_t>(source.count()));
  const c10::InferenceMode guard;
  std::vector<Normal> codes;
  for (auto members : data::members_of(labels, classes > 0 ? classes : 1)) {
    if (members.empty()) {
      // A class without samples uses the distribution of all samples.
      members.resize(static_cast<std::size_t>(source.count()));
      std::iota(members.begin(), members.end(), 0);
    }
    if (std::ssize(members) > kFitted) members.resize(static_cast<std::size_t>(kFitted));
    codes.emplace_back(model.encode(read_all(source, members), model::Context{}));
  }
  return codes;
}

// `source` has the samples that the model was trained on, with their classes.
ClassSampler autoencoder_sampler(std::shared_ptr<model::Autoencoder> model,
                                 const data::Source& source) {
  std::vector<Normal> codes = codes_of(*model, source);
  const std::int64_t classes = std::ssize(codes);
  const auto sample = [model = std::move(model), codes = std::move(codes),
                       sizes = source.form().input_sizes](const at::Tensor& labels,
                                                          std::uint64_t seed) {
    const c10::InferenceMode guard;
    std::vector<at::Tensor> drawn;
    for (std::int64_t i = 0; i < labels.numel(); ++i) {
      const auto label = labels[i].item<std::int64_t>();
      TRIREME_CHECK(label >= 0 && label < std::ssize(codes), "class ", label, " of ", codes.size());
      drawn.push_back(codes[static_cast<std::size_t>(label)].draw(seed ^ kCodePurpose,
                                                                  static_cast<std::uint64_t>(i)));
    }
    std::vector<std::int64_t> all = sizes;
    all.insert(all.begin(), labels.numel());
    return model->decode(at::stack(drawn), model::Context{}).view(all);
  };
  return {.classes = classes, .class_names = source.form().class_names, .sample = sample};
}

// The training data with class labels, which an autoencoder does not get in training.
data::Sets labelled_sets(const TrainedModel& trained, const Kinds& kinds) {
  const config::Config config = config::read_config(
      recipe_schema(kinds),
      {.files = {{"config.toml", trained.config.to_toml()}}, .overrides = {"data.target=labels"}});
  return kinds.data.open(config);
}

}  // namespace

Normal::Normal(const at::Tensor& rows) {
  const at::Tensor all = rows.to(at::kDouble);
  const std::int64_t count = all.size(0), dims = all.size(1);
  TRIREME_CHECK(count > 0, "a normal distribution requires at least one row");
  mean_ = all.mean(0);
  const at::Tensor apart = all - mean_;
  const at::Tensor covariance =
      apart.t().mm(apart) / static_cast<double>(std::max<std::int64_t>(count - 1, 1));
  const auto cell = covariance.accessor<double, 2>();
  root_ = at::zeros({dims, dims}, at::kDouble);
  auto root = root_.accessor<double, 2>();
  // Cholesky decomposition. With fewer rows than dimensions, the variance of some directions is 0.
  for (std::int64_t j = 0; j < dims; ++j) {
    double left = cell[j][j];
    for (std::int64_t k = 0; k < j; ++k) left -= root[j][k] * root[j][k];
    const bool has_width = left > 1e-10 * (cell[j][j] + 1e-300);
    root[j][j] = has_width ? std::sqrt(left) : 0;
    for (std::int64_t i = j + 1; i < dims && has_width; ++i) {
      double sum = cell[i][j];
      for (std::int64_t k = 0; k < j; ++k) sum -= root[i][k] * root[j][k];
      root[i][j] = sum / root[j][j];
    }
  }
}

at::Tensor Normal::draw(std::uint64_t seed, std::uint64_t stream) const {
  Random random(seed, stream);
  at::Tensor normal = at::empty_like(mean_);
  const std::span<double> all(normal.mutable_data_ptr<double>(),
                              static_cast<std::size_t>(normal.numel()));
  for (double& each : all) each = random.normal();
  return (mean_ + root_.mv(normal)).to(at::kFloat);
}

std::optional<ClassSampler> class_sampler(const TrainedModel& trained, const Kinds& kinds) {
  if (auto gan = std::dynamic_pointer_cast<model::Gan>(trained.model)) {
    return gan_sampler(std::move(gan), trained.data.form);
  }
  if (auto coder = std::dynamic_pointer_cast<model::Autoencoder>(trained.model)) {
    try {
      const data::Sets sets = labelled_sets(trained, kinds);
      return autoencoder_sampler(std::move(coder), *sets.train);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::NotFound) throw;
      throw Error(ErrorCode::NotFound,
                  "an autoencoder requires its training data to generate samples, and these cannot "
                  "be opened: " +
                      error.message());
    }
  }
  return std::nullopt;
}

}  // namespace trireme::train
