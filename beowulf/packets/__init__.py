"""Packets: take them (`wire`, by `dumpcap`), read them fast (`packets`), and say what they were.

`protocols` counts, `flows` follows TCP conversations, `mpi_messages` finds MPI's messages in
them (`ch3` has the format, `mpi_streams` cuts it out, `mpich_ch3.lua` shows it in Wireshark), `ssh` what
a login takes, `waits` what windows and ACKs held up; `analysis` puts all of it together and `report` into
words. `single` shows one packet after the other, in a notebook.
"""
