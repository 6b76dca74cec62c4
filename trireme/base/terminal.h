// What the terminal behind a descriptor can show. All output that is coloured, redrawn or fitted to
// a width asks here.
//
// Rules:         a pipe, a file and a terminal with TERM=dumb (or without TERM) get plain text:
//                no escape codes, nothing that is redrawn. NO_COLOR, if it is set and not empty,
//                turns colours off. Messages, tables and progress are ASCII on every terminal,
//                so that they do not depend on the locale; a tidy test checks the sources.
// Width:         that of the terminal; COLUMNS makes it smaller, or says it where the terminal
//                does not.
// Thread safety: reads the environment; any thread, while none changes it.

#pragma once

namespace trireme {

inline constexpr int kWidthUnknown = 80;

struct Terminal {
  bool is_terminal = false;  // a terminal that understands escape codes
  bool has_color = false;
  int width = kWidthUnknown;  // in columns, at least 1
};

Terminal terminal_at(int descriptor);

}  // namespace trireme
