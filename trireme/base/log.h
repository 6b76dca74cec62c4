// Log writes structured lines: a level, a fixed event text and named fields.
//
//   log.warn("cores oversubscribed", {{"ranks", 8}, {"cores", 2}});
//
// A Log is a cheap handle to a sink that several components share; there is no global log. A
// default-constructed Log discards everything.
//
// Thread safety: any thread may write; lines are never interleaved.
// Errors:        writing never throws; a sink that cannot write drops the line. A reader that
//                stalls delays its writers by one second once; after that, lines are dropped until
//                it continues.

#pragma once

#include <memory>
#include <string_view>

#include "trireme/base/record.h"

namespace trireme {

enum class LogLevel : unsigned char { Debug, Info, Warn, Error };

std::string_view name_of(LogLevel level) noexcept;

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view event, const Record& record) noexcept = 0;
};

class Log {
 public:
  Log() = default;
  Log(std::shared_ptr<LogSink> sink, LogLevel least) : sink_(std::move(sink)), least_(least) {}

  void debug(std::string_view event, const Record& record = {}) const;
  void info(std::string_view event, const Record& record = {}) const;
  void warn(std::string_view event, const Record& record = {}) const;
  void error(std::string_view event, const Record& record = {}) const;

 private:
  void write(LogLevel level, std::string_view event, const Record& record) const;

  std::shared_ptr<LogSink> sink_;
  LogLevel least_ = LogLevel::Info;
};

// `12:03:04.567 warn cores oversubscribed ranks=8 cores=2`, one write(2) for a line of up to
// PIPE_BUF bytes.
std::shared_ptr<LogSink> text_log(int descriptor);

}  // namespace trireme
