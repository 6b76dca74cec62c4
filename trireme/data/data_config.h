// DataConfig is what `[data]` says of any kind of data: how it is read, not what.
//
// Threads: a value.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::data {

struct DataConfig {
  int threads = 1;
  int ahead = 2;
  bool is_shuffled = true;
  bool is_last_dropped = false;

  static void describe(config::Fields<DataConfig>& f);
};

}  // namespace trireme::data
