#include "trireme/data/table/table_source.h"

#include <algorithm>

#include "trireme/base/check.h"

namespace trireme::data::table {

TableSource::TableSource(Rows rows, Form form, std::int64_t count)
    : rows_(std::move(rows)), form_(std::move(form)), count_(count) {
  const std::int64_t targets =
      form_.classes > 0 ? std::ssize(rows_.classes) : std::ssize(rows_.values);
  // read() writes these types.
  TRIREME_CHECK(form_.input_type == at::kFloat, "inputs of a table are float32");
  TRIREME_CHECK(form_.target_type == (form_.classes > 0 ? at::kLong : at::kFloat),
                "targets of a table are int64 classes or float32 numbers");
  TRIREME_CHECK(form_.classes == 0 || form_.target_count() == 1, "a row of a table has one class");
  TRIREME_CHECK_EQ(std::ssize(rows_.inputs), count * form_.input_count(), "inputs of a table");
  TRIREME_CHECK_EQ(targets, count * form_.target_count(), "targets of a table");
}

void TableSource::read(std::int64_t sample, const SampleKey&, void* input, void* target) const {
  TRIREME_CHECK(sample >= 0 && sample < count_, "sample ", sample, " of ", count_);
  const std::int64_t width = form_.input_count();
  std::copy_n(rows_.inputs.data() + sample * width, width, static_cast<float*>(input));
  if (form_.classes > 0) {
    *static_cast<std::int64_t*>(target) = rows_.classes[static_cast<std::size_t>(sample)];
    return;
  }
  const std::int64_t targets = form_.target_count();
  std::copy_n(rows_.values.data() + sample * targets, targets, static_cast<float*>(target));
}

}  // namespace trireme::data::table
