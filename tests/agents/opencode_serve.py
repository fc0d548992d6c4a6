"""One turn of opencode in a server that outlives it, and what comes of it: opencode_serve.py PROGRAM PROMPT.

`opencode run` on its own exits when the session is idle, before it takes the prompt that a plugin then sends.
"""

import json
import subprocess
import sys
import time
from urllib.request import urlopen

program, prompt = sys.argv[1:3]
with subprocess.Popen([program, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
    try:
        url = next(line.split()[-1] for line in server.stdout if "listening on" in line)
        subprocess.run([program, "run", "--attach", url, "--auto", prompt], check=True)
        # It answers nobody while the plugin records, and names the sessions that are at work.
        quiet = 0
        while quiet < 3:
            time.sleep(1)
            quiet = 0 if json.load(urlopen(f"{url}/session/status")) else quiet + 1
    finally:
        server.terminate()
