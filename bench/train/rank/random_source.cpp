#include "bench/train/rank/random_source.h"

#include <cstring>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/random.h"

namespace trireme::bench {
namespace {

struct RandomConfig {
  static void describe(config::Fields<RandomConfig>&) {}
};

std::int64_t draw_class(Random& random, const data::Form& form) {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(form.classes)));
}

template <class T, class Draw>
void put_all(std::vector<unsigned char>& bytes, const Draw& draw) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    const T value = draw();
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

}  // namespace

RandomSource::RandomSource(data::Form form, std::int64_t count, std::uint64_t seed)
    : form_(std::move(form)), count_(count) {
  TRIREME_CHECK(form_.input_type == at::kFloat || form_.input_type == at::kLong);
  TRIREME_CHECK(form_.target_type == at::kLong);
  Random random(seed);
  inputs_.resize(static_cast<std::size_t>(count) * form_.input_bytes());
  targets_.resize(static_cast<std::size_t>(count * form_.target_count()));
  if (form_.input_type == at::kFloat) {
    put_all<float>(inputs_, [&] { return static_cast<float>(random.normal()); });
  } else {
    put_all<std::int64_t>(inputs_, [&] { return draw_class(random, form_); });
  }
  for (std::int64_t& target : targets_) target = draw_class(random, form_);
}

void RandomSource::read(std::int64_t sample, const data::SampleKey&, void* input,
                        void* target) const {
  const auto index = static_cast<std::size_t>(sample);
  std::memcpy(input, inputs_.data() + index * form_.input_bytes(), form_.input_bytes());
  const auto target_count = static_cast<std::size_t>(form_.target_count());
  std::memcpy(target, targets_.data() + index * target_count, form_.target_bytes());
}

trireme::train::Kinds kinds_with_random(const data::Form& form, std::int64_t count) {
  trireme::train::Kinds kinds = trireme::train::built_in_kinds();
  kinds.data.add<RandomConfig>("random", "random numbers", [=](const RandomConfig&) {
    return data::Sets{std::make_shared<RandomSource>(form, count, /*seed=*/0), nullptr};
  });
  return kinds;
}

}  // namespace trireme::bench
