"""Packets: take them (`wire`), read them fast (`packets`), and say what they were (`protocols`)."""
