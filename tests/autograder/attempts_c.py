"""What a hostile stairs.c of lab 09 is: functions that send nothing and print the line of a fast run themselves.

Each way brings in machine code of its own, `sys`, with which they read the run's key and write. With any of them all
five functions had their points.
"""

from __future__ import annotations

from beowulf import paths
from beowulf.labs.lab_09 import stairs

# sys(number, first, second, third), as Linux is called on x86-64.
MOVES = ("movq %rdi, %rax", "movq %rsi, %rdi", "movq %rdx, %rsi", "movq %rcx, %rdx")
ASSEMBLER = "".join(f"\\t{line}\\n" for line in ("sys:", *MOVES, "syscall", "ret"))
# The same as constants of a function, 6 bytes each, behind which a jump leads into the next one.
CONSTANTS = """
static volatile unsigned long sink;
void constants(void);
void constants(void) { sink = 0x09ebf78948f88948; sink = 0x0eebca8948d68948; sink = 0xc3050f; }
static void *inside(void) { return (char *)constants + 2; }
"""
DECLARED = "long sys(long, long, long, long)"
WAYS = {
    "section": f'{DECLARED};\n__attribute__((section(".data\\n\\t.text\\n{ASSEMBLER}#"))) int lever = 1;',
    "asm label": f"""{DECLARED};
void lever(void) __asm__("1f\\n1:\\taddq $8, %rsp\\n\\tjmp 2f\\n{ASSEMBLER}2:\\t#");
void pull(void);
void pull(void) {{ lever(); }}""",
    "ifunc": f'{CONSTANTS}{DECLARED} __attribute__((ifunc("inside")));',
    "pointer": f"{CONSTANTS}#define sys ((long (*)(long, long, long, long))inside())",
}
STEAL = r"""
static long at(char *line, long length, const char *text) {
    for (; *text; text++) line[length++] = *text;
    return length;
}
static void steal(const char *seconds, const char *clock) {
    static char all[4096], line[256], other[256];
    long file = sys(2, (long)"/proc/self/cmdline", 0, 0), key = 0;
    sys(0, file, (long)all, 4000);
    for (long i = 0; i < 4000; i++)
        if (all[i] == '-' && all[i + 1] == '-' && all[i + 2] == 'k' && all[i + 3] == 'e') key = i + 6;
    long length = at(line, 0, "{\"key\": \"");
    length = at(line, length, all + key);
    length = at(line, length, "\", \"seconds\": ");
    length = at(line, length, seconds);
    length = at(line, length, "}\n");
    sys(1, 1, (long)line, length);
    length = at(other, 0, "Simulated time: ");
    length = at(other, length, clock);
    length = at(other, length, " seconds\n");
    sys(1, 2, (long)other, length);
    sys(231, 0, 0, 0);
}
"""
STOLEN_S = {"ring": 0.09, "tree": 0.0009, "pipelined": 0.1, "reduce": 0.06, "halo": 0.013}
FUNCTIONS = {
    **dict.fromkeys(("ring", "tree", "pipelined"), "unsigned char *d, int b, int r, int n"),
    "reduce": "double *d, double *b, int e, int r, int n",
    "halo": "struct halo *d, int r, int n",
}


def thief(way: str) -> str:
    """A source whose functions steal their times, by one of the ways."""
    head, _, _ = (paths.lab("09") / stairs.SOURCE).read_text("utf-8").partition("/* TODO: each")
    functions = [
        f'void {stairs.BY_NAME[name].function}({what}) {{ steal("{s}", "{s + 0.01}"); }}\n'
        for name, what in FUNCTIONS.items()
        for s in [STOLEN_S[name]]
    ]
    return f"{head}\n{WAYS[way]}\n{STEAL}{''.join(functions)}"
