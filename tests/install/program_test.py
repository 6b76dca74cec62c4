"""Goal:   the program links no torch and starts in under 30 ms.
Method: reads what its dynamic section asks for; starts it often and takes the best time, which
        a busy machine cannot spoil."""

import subprocess
import sys
import time

LIMIT_MS = 30


def start_ms(program):
    begin = time.perf_counter()
    subprocess.run([program, "version"], check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1000


program = sys.argv[1]
needed = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True)
libraries = [line.split("[")[1].rstrip("]") for line in needed.stdout.splitlines()
             if "(NEEDED)" in line]
print("needs", *libraries)
assert libraries, "readelf shows no libraries at all"
assert not any("torch" in name or "c10" in name for name in libraries), "it links torch"

best = min(start_ms(program) for _ in range(20))
print(f"starts in {best:.1f} ms")
assert best < LIMIT_MS, f"{best:.1f} ms is over {LIMIT_MS} ms"
