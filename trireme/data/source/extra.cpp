#include "trireme/data/source/extra.h"

#include <string>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/idx/idx_set.h"

namespace trireme::data {
namespace {

// Concatenates two sources of the same form.
class JoinedSource final : public Source {
 public:
  JoinedSource(std::shared_ptr<const Source> first, std::shared_ptr<const Source> second)
      : first_(std::move(first)), second_(std::move(second)) {
    const Form &one = first_->form(), &other = second_->form();
    if (one.input_sizes == other.input_sizes && one.input_type == other.input_type &&
        one.target_sizes == other.target_sizes && one.target_type == other.target_type &&
        one.classes == other.classes) {
      return;
    }
    throw Error(ErrorCode::InvalidInput,
                "samples that are joined are of other sizes, types or classes than each other");
  }

  std::int64_t count() const override { return first_->count() + second_->count(); }
  const Form& form() const override { return first_->form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    const auto [source, within] = place(sample);
    source.read(within, key, input, target);
  }
  void read_placed(std::int64_t sample, const SampleKey& key,
                   const transform::ImagePlacement& placement, void* input,
                   void* target) const override {
    const auto [source, within] = place(sample);
    source.read_placed(within, key, placement, input, target);
  }
  void read_target(std::int64_t sample, void* target) const override {
    const auto [source, within] = place(sample);
    source.read_target(within, target);
  }

 private:
  struct Place {
    const Source& source;
    std::int64_t sample;
  };
  Place place(std::int64_t sample) const {
    TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
    const std::int64_t before = first_->count();
    if (sample < before) return {*first_, sample};
    return {*second_, sample - before};
  }

  std::shared_ptr<const Source> first_;
  std::shared_ptr<const Source> second_;
};

}  // namespace

std::shared_ptr<const Source> with_extra(std::shared_ptr<const Source> source,
                                         const DataConfig& config) {
  if (config.extra.empty()) return source;
  const Form& form = source->form();
  if (!form.is_image() || form.classes == 0 || !form.target_sizes.empty()) {
    throw Error(ErrorCode::InvalidInput, "data.extra is for pictures of one class each");
  }
  auto extra = idx::open_pictures(config.extra, form.classes);
  if (extra->form().input_sizes != form.input_sizes) {
    throw Error(ErrorCode::InvalidInput, "data.extra: pictures in " + config.extra.string() +
                                             " are of another size than the others");
  }
  return std::make_shared<JoinedSource>(std::move(source), std::move(extra));
}

}  // namespace trireme::data
