// Durations and byte sizes as people write them: a number and its unit, "5 s", "250ms", "1.5 GiB".
//
// Both directions are exact: a text that is not a whole number of nanoseconds or bytes is refused
// instead of rounded, and what to_text() wrote is read back as the same value.
//
// Threads: pure.
// Failure: InvalidInput, with a message that shows how it is written.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/byte_size.h"
#include "trireme/base/clock.h"

namespace trireme {

// Units: ns, us (or µs), ms, s, min, h, d. Negative durations are read too.
Duration parse_duration(std::string_view text);

// In the largest unit that needs no fraction: "5 s", "1500 ms", "0 s".
std::string to_text(Duration duration);

// Units: B; KiB, MiB, GiB, TiB (also K, M, G, T) by 1024; kB, MB, GB, TB by 1000. A number without
// a unit counts bytes. At most 2^63 - 1 bytes.
ByteSize parse_byte_size(std::string_view text);

// In the largest binary unit that needs no fraction: "64 MiB", "1000 B".
std::string to_text(ByteSize size);

}  // namespace trireme
