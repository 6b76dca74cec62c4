// Metrics is a set of named counters, gauges and histograms. Each rank has one and passes it to its
// components.
//
//   Counter& bytes = metrics.counter("comm.bytes_sent");   // once
//   bytes.add(size);                                       // often, lock-free
//
// Names:         the same name returns the same object. Each name has one type; requesting another
//                type is Misuse.
// Thread safety: any thread. Looking up a metric takes a lock, using it does not.
// Lifetime:      references stay valid as long as the Metrics object.

#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

#include "trireme/base/record.h"
#include "trireme/monitor/counter.h"
#include "trireme/monitor/histogram.h"

namespace trireme::monitor {

class Metrics {
 public:
  Counter& counter(std::string_view name) { return find<Counter>(name); }
  Gauge& gauge(std::string_view name) { return find<Gauge>(name); }
  Histogram& histogram(std::string_view name) { return find<Histogram>(name); }

  // All metrics by name; a histogram becomes name.count, .mean, .p50, .p99 and .max.
  Record snapshot() const;

 private:
  template <class T>
  T& find(std::string_view name);

  mutable std::mutex mutex_;
  std::map<std::string, std::variant<Counter, Gauge, Histogram>, std::less<>> all_;
};

}  // namespace trireme::monitor
