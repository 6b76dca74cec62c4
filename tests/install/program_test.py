"""Goal:   the program starts without torch: it does not link it, and none of its libraries do.
Method: reads which libraries it needs, and which are loaded when it runs. bench/start.sh measures
        how fast it starts."""

import os
import subprocess
import sys


def refuse_torch(libraries):
    print("libraries:", *libraries)
    assert libraries, "no libraries were listed"
    assert not any("torch" in name or "c10" in name for name in libraries), "it needs torch"


program = sys.argv[1]
needed = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True)
refuse_torch([line.split("[")[1].rstrip("]") for line in needed.stdout.splitlines()
              if "(NEEDED)" in line])
# The dynamic loader lists all libraries, also those that others need, instead of running it.
loaded = subprocess.run([program, "version"], check=True, capture_output=True, text=True,
                        env=dict(os.environ, LD_TRACE_LOADED_OBJECTS="1"))
refuse_torch([line.split()[0] for line in loaded.stdout.splitlines() if line.strip()])
