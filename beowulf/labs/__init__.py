"""The labs, a package each: none of them imports another one."""
