#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a trace file as trace-cmd records it from a host: host_trace.py [--big-endian] [--long 4|8] [--page BYTES]
[--version 6|7] [--events N] [--cpus N] FILE

The events have tasks, texts of any length, arrays, flags and functions.
"""

import argparse
import struct

COMMON = """\
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""


def event_format(name, number, fields, fmt):
    lines = "".join(f"\tfield:{decl};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n"
                    for decl, offset, size, signed in fields)
    return f"name: {name}\nID: {number}\nformat:\n{COMMON}{lines}\nprint fmt: {fmt}\n".encode()


SWITCH = event_format("sched_switch", 316, [
    ("char prev_comm[16]", 8, 16, 0), ("pid_t prev_pid", 24, 4, 1), ("int prev_prio", 28, 4, 1),
    ("long prev_state", 32, 8, 1), ("char next_comm[16]", 40, 16, 0), ("pid_t next_pid", 56, 4, 1),
    ("int next_prio", 60, 4, 1)],
    '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", '
    'REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & ((((0x0000 | 0x0001 | 0x0002) + 1) << 1) - 1)) '
    '? __print_flags(REC->prev_state & 0xff, "|", { 0x0001, "S" }, { 0x0002, "D" }) : "R", '
    'REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio')
IRQ = event_format("irq_handler_entry", 150, [
    ("int irq", 8, 4, 1), ("__data_loc char[] name", 12, 4, 0)],
    '"irq=%d name=%s", REC->irq, __get_str(name)')
SOFTIRQ = event_format("softirq_entry", 148, [("unsigned int vec", 8, 4, 0)],
    '"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 1, "TIMER" }, { 3, "NET_RX" })')
PRINT = event_format("print", 5, [
    ("unsigned long ip", 8, 8, 0), ("char buf[]", 16, 0, 0)],
    '"%ps: %s", (void *)REC->ip, REC->buf')


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--big-endian", action="store_true")
    parser.add_argument("--long", type=int, default=8)
    parser.add_argument("--page", type=int, default=4096)
    parser.add_argument("--version", type=int, default=6)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("file")
    return parser.parse_args()


OPTIONS = parse()
ORDER = ">" if OPTIONS.big_endian else "<"


def pack(fmt, *values):
    return struct.pack(ORDER + fmt, *values)


def common(number, pid):
    return pack("HBBi", number, 1, 0, pid)


def name_of(pid):
    return f"task{pid}".encode() if pid else b"swapper/0"


def payload(i):
    pid = i % 5 * 100
    if i % 4 == 0:
        after = (i + 1) % 5 * 100
        return common(316, pid) + pack("16siiq16sii", name_of(pid), pid, 120, i % 3, name_of(after), after, 120 - i % 7)
    if i % 4 == 1:
        text = b"virtio%d-input.0\0" % (i % 9)
        return common(150, pid) + pack("iI", i % 64, 16 | len(text) << 16) + text
    if i % 4 == 2:
        return common(148, pid) + pack("I", i % 5)
    return common(5, pid) + pack("Q", 0xffff800080010010) + b"marker %d\n\0" % i


def record(delta, data):
    data += b"\0" * (-len(data) % 4)
    words = len(data) // 4
    head = words << 27 | 0 if ORDER == ">" else words
    if words > 28:
        head = 0
        data = pack("I", len(data) + 4) + data
    head = head | delta if ORDER == ">" else head | delta << 5
    return pack("I", head) + data


def pages(cpu):
    """Return the pages of a CPU."""
    head = 8 + OPTIONS.long
    result, data, start, now = b"", b"", None, 0
    for i in range(OPTIONS.events):
        when = 5_000_000_000 + (i * OPTIONS.cpus + cpu) * 1777
        data_i = payload(i * OPTIONS.cpus + cpu)
        if start is None:
            start = now = when
        one = record(when - now, data_i)
        if len(data) + len(one) > OPTIONS.page - head:
            result += page(start, data)
            data, start = b"", when
            one = record(0, data_i)
        data += one
        now = when
    return result + (page(start, data) if data else b"")


def page(start, data):
    text = pack("Q", start) + pack("Q" if OPTIONS.long == 8 else "I", len(data)) + data
    return text + b"\0" * (OPTIONS.page - len(text))


def sized(text, fmt="Q"):
    return pack(fmt, len(text)) + text


def header_info():
    size, room = OPTIONS.long, OPTIONS.page - 8 - OPTIONS.long
    text = (f"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
            f"\tfield: local_t commit;\toffset:8;\tsize:{size};\tsigned:1;\n"
            f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
            f"\tfield: char data;\toffset:{8 + size};\tsize:{room};\tsigned:1;\n").encode()
    event = b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
    return b"header_page\0" + sized(text) + b"header_event\0" + sized(event)


FTRACE = pack("I", 1) + sized(PRINT)
EVENTS = (pack("I", 2) + b"irq\0" + pack("I", 2) + sized(IRQ) + sized(SOFTIRQ) + b"sched\0" + pack("I", 1) + sized(SWITCH))
KALLSYMS = sized(b"ffff800080010000 T do_something\nffff800080020000 T do_more\n", "I")
PRINTK = sized(b'0xffff800081000000 : "hello %d\\n"\n', "I")
CMDLINES = sized(b"".join(b"%d %s\n" % (pid, name_of(pid)) for pid in range(100, 500, 100)))
UNAME = b"Linux host 6.12.0 #1 SMP aarch64\0"
VERSION = b"3.1.6 (test)\0"
CLOCK = b"[local] global counter\0"


def place(begin):
    """Return the data and the place of each CPU."""
    begin += -begin % OPTIONS.page
    data, places = b"", []
    for cpu in range(OPTIONS.cpus):
        one = pages(cpu)
        places.append((cpu, begin + len(data), len(one)))
        data += one
    return begin, data, places


def option(number, data):
    return pack("HI", number, len(data)) + data


def initial():
    text = b"\x17\x08\x44tracing%d\0" % OPTIONS.version
    return text + bytes([OPTIONS.big_endian, OPTIONS.long]) + pack("I", OPTIONS.page)


def version_6():
    text = initial() + header_info() + FTRACE + EVENTS + KALLSYMS + PRINTK + CMDLINES + pack("I", OPTIONS.cpus)
    text += b"options  \0" + option(5, UNAME) + option(9, VERSION) + option(99, b"unknown") + pack("H", 0)
    text += b"flyrecord\0"
    begin, data, places = place(len(text) + 16 * OPTIONS.cpus)
    text += b"".join(pack("QQ", offset, size) for _, offset, size in places)
    return text + b"\0" * (begin - len(text)) + data


def section(number, data):
    return pack("HHIQ", number, 0, 0, len(data)) + data


def version_7():
    text = initial() + b"none\0\0"
    at = len(text) + 8
    body, pointers = b"", b""
    for number, data in ((16, header_info()), (17, FTRACE), (18, EVENTS), (19, KALLSYMS), (20, PRINTK), (21, CMDLINES),
                         (77, b"unknown")):
        if number != 77:
            pointers += option(number, pack("Q", at + len(body)))
        body += section(number, data)
    options_at = at + len(body)
    buffer_size = 8 + 1 + 6 + 8 + 20 * OPTIONS.cpus
    plain = pointers + option(5, UNAME) + option(9, VERSION) + option(99, b"unknown")
    options_size = len(plain) + 6 + buffer_size + 6 + 8
    begin, data, places = place(options_at + 16 + options_size + 16)
    buffer = pack("Q", begin - 16) + b"\0" + b"local\0" + pack("II", OPTIONS.page, OPTIONS.cpus)
    buffer += b"".join(pack("IQQ", *one) for one in places)
    plain += option(3, buffer) + option(0, pack("Q", 0))
    text += pack("Q", options_at) + body + section(0, plain)
    text += b"\0" * (begin - 16 - len(text)) + pack("HHIQ", 3, 0, 0, len(data))
    return text + data


with open(OPTIONS.file, "wb") as file:
    file.write(version_6() if OPTIONS.version == 6 else version_7())
