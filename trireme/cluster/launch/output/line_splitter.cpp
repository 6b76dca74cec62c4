#include "trireme/cluster/launch/output/line_splitter.h"

#include <algorithm>

namespace trireme::cluster::launch::output {

void LineSplitter::feed(std::string_view bytes, TimePoint now, const Sink& sink) {
  if (options_.redraw_period == Duration::zero()) {
    feed_plain(bytes, sink);
    return;
  }
  while (!bytes.empty()) {
    // Only now is it known whether a carriage return ended the line (\r\n) or an update.
    if (has_return_ && bytes.front() != '\r') {
      has_return_ = false;
      if (bytes.front() != '\n') redraw(now, sink);
    }
    const std::size_t end = std::min(bytes.find('\r'), bytes.size());
    feed_plain(bytes.substr(0, end), sink);
    if (end < bytes.size()) has_return_ = true;
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
}

void LineSplitter::feed_plain(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::size_t room = options_.line_max - line_.size();
    const std::size_t size = std::min({newline, room, bytes.size()});
    line_.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    if (size == newline) {
      bytes.remove_prefix(1);
      end_line(sink);
    } else if (size == room && !bytes.empty()) {
      sink(line_);
      line_.clear();
    }
  }
}

void LineSplitter::end_line(const Sink& sink) {
  if (!line_.empty()) {
    sink(line_);
  } else if (!skipped_.empty()) {
    sink(skipped_);
  } else if (!has_redrawn_) {
    sink({});
  }
  line_.clear();
  skipped_.clear();
  has_redrawn_ = false;
}

void LineSplitter::redraw(TimePoint now, const Sink& sink) {
  if (line_.empty()) return;
  if (redrawn_ == TimePoint::min() || now - redrawn_ >= options_.redraw_period) {
    sink(line_);
    redrawn_ = now;
    has_redrawn_ = true;
    skipped_.clear();
  } else {
    skipped_ = line_;
  }
  line_.clear();
}

void LineSplitter::finish(const Sink& sink) {
  has_return_ = false;
  if (!line_.empty() || !skipped_.empty()) end_line(sink);
}

}  // namespace trireme::cluster::launch::output
