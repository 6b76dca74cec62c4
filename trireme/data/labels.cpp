#include "trireme/data/labels.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/order/order.h"

namespace trireme::data {

std::vector<std::int64_t> labels_of(const Source& source, const std::string& setting) {
  const Form& form = source.form();
  if (form.classes == 0 || !form.target_sizes.empty() || form.target_type != at::kLong) {
    throw Error(ErrorCode::InvalidInput,
                setting + " is for samples of one class each, and these have none");
  }
  std::vector<std::int64_t> labels(static_cast<std::size_t>(source.count()));
  for (std::int64_t i = 0; i < source.count(); ++i) {
    std::int64_t& label = labels[static_cast<std::size_t>(i)];
    source.read_target(i, &label);
    TRIREME_CHECK(label >= 0 && label < form.classes, "class ", label, " of ", form.classes);
  }
  return labels;
}

std::vector<std::int64_t> count_labels(const std::vector<std::int64_t>& labels,
                                       std::int64_t classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  for (const std::int64_t label : labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

std::vector<std::vector<std::int64_t>> members_of(const std::vector<std::int64_t>& labels,
                                                  std::int64_t classes) {
  std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    members[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::int64_t>(i));
  }
  return members;
}

std::vector<double> balanced_weights(const std::vector<std::int64_t>& counts) {
  double samples = 0, classes = 0;
  for (const std::int64_t count : counts) {
    samples += static_cast<double>(count);
    classes += count > 0 ? 1 : 0;
  }
  std::vector<double> weights;
  for (const std::int64_t count : counts) {
    weights.push_back(count == 0 ? 0 : samples / (classes * static_cast<double>(count)));
  }
  return weights;
}

std::vector<int> folds_of(const std::vector<std::int64_t>& labels, std::int64_t classes, int folds,
                          std::uint64_t seed) {
  TRIREME_CHECK(folds >= 1, folds, " folds");
  std::vector<int> all(labels.size());
  // Continues across classes, so that the remainders are spread over the folds.
  std::int64_t assigned = 0;
  for (const auto& members : members_of(labels, classes)) {
    const Order order(seed, std::ssize(members));
    for (std::int64_t k = 0; k < std::ssize(members); ++k) {
      const std::int64_t sample = members[static_cast<std::size_t>(order.sample(0, k))];
      all[static_cast<std::size_t>(sample)] = static_cast<int>(assigned++ % folds);
    }
  }
  return all;
}

}  // namespace trireme::data
