// LogConfig is the section `[log]`: how much is logged, and in which form.
//
// Threads: a value.

#pragma once

#include "trireme/base/config/fields.h"
#include "trireme/base/log.h"

namespace trireme {

enum class LogFormat { Text, Json };

struct LogConfig {
  LogLevel level = LogLevel::Info;
  LogFormat format = LogFormat::Text;

  static void describe(config::Fields<LogConfig>& f);
};

// A log of that level and form on `descriptor`, which stays the caller's.
Log open_log(const LogConfig& config, int descriptor);

}  // namespace trireme
