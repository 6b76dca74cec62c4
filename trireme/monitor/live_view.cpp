#include "trireme/monitor/live_view.h"

#include <unistd.h>

#include <cerrno>

#include "trireme/base/terminal.h"

namespace trireme::monitor {

LiveView::Options LiveView::options_for(int descriptor) {
  const Terminal terminal = terminal_at(descriptor);
  return {.descriptor = descriptor,
          .is_terminal = terminal.is_terminal,
          .has_color = terminal.has_color};
}

LiveView::LiveView(Options options) : options_(options) {}

LiveView::~LiveView() {
  finish();
}

void LiveView::update(const ProgressReport& progress) {
  progress_ = progress;
  has_progress_ = true;
  is_shown_ = false;
  ++updates_;
  if (line_steps_ > 0 && !options_.is_terminal) {
    if (progress.step % line_steps_ == 0) draw();
    return;
  }
  const TimePoint now = options_.clock->now();
  const bool is_first = !options_.is_terminal && updates_ <= options_.first_steps;
  if (now < next_ && !is_first) return;
  next_ = now + (options_.is_terminal ? options_.redraw_every : options_.line_every);
  draw();
}

void LiveView::note(std::string_view line) {
  std::string text = erased() + std::string(line) + "\n";
  lines_ = 0;
  write(text);
  if (options_.is_terminal && has_progress_) draw();
}

void LiveView::finish() {
  if (has_progress_ && !is_shown_) draw();
  lines_ = 0;
}

void LiveView::draw() {
  is_shown_ = true;
  if (!options_.is_terminal) {
    write(line_of(progress_) + "\n");
    return;
  }
  // Leave one column free: a full line would wrap on some terminals. The window may have changed.
  const int width = terminal_at(options_.descriptor).width - 1;
  const std::vector<std::string> lines =
      view_of(progress_, {.width = width, .has_color = options_.has_color});
  std::string text = erased();
  for (const std::string& line : lines) text += line + "\n";
  lines_ = lines.size();
  write(text);
}

// Moves the cursor to the first line of the view and clears everything below.
std::string LiveView::erased() const {
  if (lines_ == 0) return {};
  return "\x1b[" + std::to_string(lines_) + "A\r\x1b[J";
}

void LiveView::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t count = ::write(options_.descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace trireme::monitor
