#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Have QEMU dump the machine's memory: qmp.py SOCKET FILE [FORMAT].

Or save a part of it, and with "reset" reset the machine at that moment: qmp.py SOCKET FILE ADDRESS SIZE [reset]."""

import json
import socket
import sys


def ask(stream, command, **arguments):
    stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
    stream.flush()
    while True:
        answer = json.loads(stream.readline())
        if "error" in answer:
            sys.exit(f"{command}: {answer['error']['desc']}")
        if "return" in answer:
            return


def main():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    with connection.makefile("rw", encoding="utf-8") as stream:
        stream.readline()
        ask(stream, "qmp_capabilities")
        if len(sys.argv) > 4:
            ask(stream, "stop")
            ask(stream, "pmemsave", val=int(sys.argv[3], 0), size=int(sys.argv[4], 0), filename=sys.argv[2])
            if sys.argv[5:] == ["reset"]:
                ask(stream, "system_reset")
            ask(stream, "cont")
            return
        options = {"format": sys.argv[3]} if len(sys.argv) > 3 else {}
        ask(stream, "dump-guest-memory", paging=False, protocol=f"file:{sys.argv[2]}", **options)


main()
