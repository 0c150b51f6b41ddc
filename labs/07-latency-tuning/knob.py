"""A knob of your own: how to read it, set it and put it back. Replace each `...`.

    python knob.py

turns your knob on two nodes of the running cluster, from each value to the other one and back, and prints
what is right. Each method returns lines of shell, as a text; they run on a node as root.
`beowulf tune show firewall` shows the lines of an existing knob.

Yours is a setting of the network: a file below /proc/sys/net/ipv4, which belongs to the node alone. Section 7 of the
handout says which. Other files may belong to the whole machine: do not change them.
"""


class Mine:
    """Describe your knob in a sentence."""

    name = "my-knob"  # its name, with hyphens
    values = (..., ...)  # two values to try, as texts
    anew = False  # True if only new connections notice it

    def look(self):
        """Lines that print the present value, and nothing else."""
        return ...

    def set(self, value):
        """Lines that set it to `value`; `look` must print that afterwards."""
        return ...

    def back(self, state):
        """Lines that restore the state that `look` has printed, whatever it was."""
        return ...


if __name__ == "__main__":
    import sys

    from beowulf.labs.lab_07 import own_knob

    own_knob.main(sys.argv, globals())
