// LogConfig is the configuration section `[log]`: the log level and the output format.
//
// Thread safety: a value type without shared state.

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

// Opens a log with this level and format on `descriptor`, which the caller continues to own.
Log open_log(const LogConfig& config, int descriptor);

}  // namespace trireme
