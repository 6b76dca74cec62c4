#include "trireme/monitor/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace trireme::monitor {
namespace {

constexpr int kBarMax = 40;
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kPlain = "\x1b[0m";

[[gnu::format(printf, 1, 2)]] std::string print(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

double share_done(const ProgressReport& progress) {
  if (progress.steps <= 0) return 0;
  return std::clamp(static_cast<double>(progress.step) / static_cast<double>(progress.steps), 0.0,
                    1.0);
}

std::string steps_text(const ProgressReport& progress) {
  std::string text = std::to_string(progress.step);
  if (progress.steps > 0) text += "/" + std::to_string(progress.steps);
  return text;
}

// The parts that the line and the view have in common, most important first.
std::vector<std::string> parts_of(const ProgressReport& progress) {
  std::vector<std::string> parts;
  parts.push_back("loss " + figure_text(progress.loss));
  if (progress.mae) parts.push_back("mae " + figure_text(*progress.mae));
  if (progress.r2) parts.push_back(print("r2 %.3f", *progress.r2));
  parts.push_back(print("lr %.2e", progress.learning_rate));
  if (progress.rate) parts.push_back(number_text(*progress.rate) + " " + progress.unit + "/s");
  if (progress.mfu) parts.push_back(print("MFU %.1f %%", 100 * *progress.mfu));
  if (progress.data_wait) {
    parts.push_back(print("%.0f %% waiting for data", 100 * *progress.data_wait));
  }
  return parts;
}

// Joins the parts in order until the width is used up. The first part is always included and
// truncated if necessary.
std::string joined(const std::vector<std::string>& parts, std::size_t width) {
  std::string line;
  for (const std::string& part : parts) {
    const std::string next = line.empty() ? part : line + "  " + part;
    if (next.size() > width) {
      if (line.empty()) line = part.substr(0, width);
      break;
    }
    line = next;
  }
  return line;
}

std::string bar_line(const ProgressReport& progress, const ViewStyle& style) {
  const double share = share_done(progress);
  std::string right = " " + steps_text(progress);
  if (progress.steps > 0) right = print(" %3.0f %%", std::floor(100 * share)) + right;
  if (progress.seconds_left) right += "  " + duration_text(*progress.seconds_left) + " left";
  const int room = std::min(kBarMax, style.width - static_cast<int>(right.size()) - 2);
  if (progress.steps <= 0 || room < 5) {
    return right.substr(1, static_cast<std::size_t>(std::max(style.width, 0)));
  }
  const auto full = static_cast<std::size_t>(share * room);
  const std::string done(full, '=');
  const std::string rest(static_cast<std::size_t>(room) - full, ' ');
  return style.has_color ? "[" + std::string(kGreen) + done + kPlain + rest + "]" + right
                         : "[" + done + rest + "]" + right;
}

}  // namespace

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<long long>(std::llround(std::max(seconds, 0.0)));
  const long long minutes = whole / 60 % 60;
  if (whole < 3600) return print("%lld:%02lld", minutes, whole % 60);
  if (whole < 48 * 3600) return print("%lld:%02lld:%02lld", whole / 3600, minutes, whole % 60);
  return print("%lld d %02lld:%02lld", whole / 86400, whole / 3600 % 24, minutes);
}

std::string number_text(double value) {
  const char* units[] = {"", "k", "M", "G", "T"};
  int unit = 0;
  while (std::abs(value) >= 999.5 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return print(value >= 100 || value == std::floor(value) ? "%.0f" : "%.1f", value);
  return print(value >= 99.95 ? "%.0f%s" : "%.1f%s", value, units[unit]);
}

std::string figure_text(double value) {
  const double size = std::abs(value);
  if (size >= 100 && size < 1e5) return print("%.2f", value);
  return print(size == 0 || (size >= 0.01 && size < 100) ? "%.4f" : "%.4g", value);
}

std::vector<std::string> view_of(const ProgressReport& progress, const ViewStyle& style) {
  const auto width = static_cast<std::size_t>(std::max(style.width, 1));
  std::vector<std::string> lines{bar_line(progress, style), joined(parts_of(progress), width)};
  std::vector<std::string> last;
  if (progress.epoch > 0) last.push_back(print("epoch %.2f", progress.epoch));
  if (!progress.evaluation.empty()) last.push_back(progress.evaluation);
  if (progress.checkpoint_step) {
    last.push_back("checkpoint at " + std::to_string(*progress.checkpoint_step));
  }
  if (!last.empty()) lines.push_back(joined(last, width));
  return lines;
}

std::string line_of(const ProgressReport& progress) {
  std::vector<std::string> parts = parts_of(progress);
  parts.insert(parts.begin(), "step " + steps_text(progress));
  if (progress.seconds_left) parts.push_back(duration_text(*progress.seconds_left) + " left");
  return joined(parts, 1000);
}

}  // namespace trireme::monitor
