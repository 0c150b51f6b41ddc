"""A knob of your own: how to read it, set it and put it back. Replace each `...`.

    python knob.py

turns your knob on two nodes of the running cluster, from each value to the other one and back, and says
what is right. Each method gives lines of shell, as a text; they are run on a node as its administrator.
`beowulf tune show firewall` shows the lines of a knob that is there already.

Yours is a setting of the network: a file below /proc/sys/net/ipv4, which belongs to the node alone. Section 7 of the
handout says which. Other files may belong to the whole machine: leave them alone.
"""


class Mine:
    """What it is, in a sentence of yours."""

    name = "my-knob"  # a word for it, with hyphens
    values = (..., ...)  # two values to try, as texts
    anew = False  # True if only new connections notice it

    def look(self):
        """Lines that print the present value, and nothing else."""
        return ...

    def set(self, value):
        """Lines that set it to `value`; `look` must print that afterwards."""
        return ...

    def back(self, state):
        """Lines that make the state again that `look` has printed, whatever it was."""
        return ...


if __name__ == "__main__":
    import sys

    from beowulf.labs.lab_07 import own_knob

    own_knob.main(sys.argv, globals())
