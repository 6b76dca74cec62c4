#include "trireme/monitor/metrics.h"

#include "trireme/base/check.h"

namespace trireme::monitor {
namespace {

void add_to(Record& record, const std::string& name, const Counter& counter) {
  record.add({name, counter.value()});
}

void add_to(Record& record, const std::string& name, const Gauge& gauge) {
  record.add({name, gauge.value()});
}

void add_to(Record& record, const std::string& name, const Histogram& histogram) {
  const Histogram::Snapshot snapshot = histogram.snapshot();
  record.add({name + ".count", snapshot.count});
  record.add({name + ".mean", snapshot.mean()});
  record.add({name + ".p50", snapshot.quantile(0.5)});
  record.add({name + ".p99", snapshot.quantile(0.99)});
  record.add({name + ".max", snapshot.max});
}

}  // namespace

template <class T>
T& Metrics::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  auto found = all_.find(name);
  if (found == all_.end()) {
    found = all_.try_emplace(std::string(name), std::in_place_type<T>).first;
  }
  T* metric = std::get_if<T>(&found->second);
  TRIREME_CHECK(metric != nullptr, "metric ", name, " was made as one of another kind");
  return *metric;
}

template Counter& Metrics::find<Counter>(std::string_view);
template Gauge& Metrics::find<Gauge>(std::string_view);
template Histogram& Metrics::find<Histogram>(std::string_view);

Record Metrics::snapshot() const {
  const std::lock_guard lock(mutex_);
  Record record;
  for (const auto& [name, metric] : all_) {
    std::visit([&, &key = name](const auto& value) { add_to(record, key, value); }, metric);
  }
  return record;
}

}  // namespace trireme::monitor
