#!/usr/bin/env python3
"""ichido.py PEERS: runs the harness of the peers, which lies in the folder PEERS, on this build.
The harness prints one JSON line; its own README names the settings (RUNS, N, INFLIGHT, SECS)."""
import glob, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.abspath(sys.argv[1])
TARGET = os.path.join(HERE, "..", "all-in-one", "target")

source = open(os.path.join(PEERS, "bench.py")).read().rsplit("\nmain()", 1)[0]
harness = {"__file__": os.path.join(PEERS, "bench.py"), "__name__": "bench"}
exec(compile(source, "bench.py", "exec"), harness)


def ichido(self):
    classes = os.path.join(TARGET, "peers")
    path = os.pathsep.join([classes, os.path.join(TARGET, "ichido.jar"), PEERS + "/java/target/classes"]
                           + glob.glob(TARGET + "/lib/*.jar"))
    javac = os.path.join(os.path.dirname(harness["JAVA"]), "javac") if "/" in harness["JAVA"] else "javac"
    subprocess.run([javac, "-nowarn", "-proc:none", "-d", classes, "-cp", path, os.path.join(HERE, "Ichido.java")], check=True)
    folder = self.dir + "/ichido"
    flags = f"-Xms192m -Xmn128m -Xmx384m -XX:+UseSerialGC @{HERE}/../compiler.options --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow"

    def start():
        caller = harness["Proc"]([harness["JAVA"], *flags.split(), "-cp", path, "peers.Ichido", str(self.sink_port), folder], log=self.log)
        self.procs.append(caller)
        return caller

    self.start = start
    self.begin("fsync and synchronous_commit on; one Kafka node without fsync")
    self.roots.append(int(open(folder + "/postgres/cluster/postmaster.pid").readline()))


harness["Bench"].kstreams = ichido  # which is what the harness takes for a name that it does not know
sys.argv = ["bench.py", "ichido"]
harness["main"]()
