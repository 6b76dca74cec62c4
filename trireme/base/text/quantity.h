// Durations and byte sizes as text with a unit: "5 s", "250ms", "1.5 GiB".
//
// Both directions are exact: a text that is not a whole number of nanoseconds or bytes is refused
// instead of rounded, and parsing the result of to_text() gives the same value.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        InvalidInput, with a message that shows the expected format.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/base/text/byte_size.h"

namespace trireme {

// Units: ns, us (or µs), ms, s, min, h, d. Negative durations are accepted.
Duration parse_duration(std::string_view text);

// Uses the largest unit that needs no fraction: "5 s", "1500 ms", "0 s".
std::string to_text(Duration duration);

// Units: B; KiB, MiB, GiB, TiB (also K, M, G, T) are multiples of 1024; kB, MB, GB, TB of 1000. A
// number without a unit is in bytes. The maximum is 2^63 - 1 bytes.
ByteSize parse_byte_size(std::string_view text);

// Uses the largest binary unit that needs no fraction: "64 MiB", "1000 B".
std::string to_text(ByteSize size);

}  // namespace trireme
