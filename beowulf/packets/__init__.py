"""Packets: a capture is read fast, and it is said what was in it.

`pcapng` reads the file and `headers` the frames; `table` gives them in pieces or whole. `protocols` counts, `flows`
follows TCP conversations, `mpi_messages` finds MPI's messages in them (`ch3` has the format, `mpi_streams` cuts it out,
`mpich_ch3.lua` shows it in Wireshark), `costs` says what each took, `waits` what windows and ACKs held up. `analysis`
puts all of it together, `report` into words, `ladder` and `pictures` into drawings; `clocks` puts the packets of
machines with clocks of their own into one order.
"""
