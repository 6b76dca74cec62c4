#include "trireme/base/log_config.h"

namespace trireme {

void LogConfig::describe(config::Fields<LogConfig>& f) {
  f.add("level", &LogConfig::level)
      .names({{"debug", LogLevel::Debug},
              {"info", LogLevel::Info},
              {"warn", LogLevel::Warn},
              {"error", LogLevel::Error}})
      .help("the least level that is written");
  f.add("format", &LogConfig::format)
      .names({{"text", LogFormat::Text}, {"json", LogFormat::Json}})
      .help("lines for people, or one JSON object a line for tools");
}

Log open_log(const LogConfig& config, int descriptor) {
  const bool is_json = config.format == LogFormat::Json;
  return Log(is_json ? json_log(descriptor) : text_log(descriptor), config.level);
}

}  // namespace trireme
