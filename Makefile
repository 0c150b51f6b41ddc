NATIVE := $(patsubst beowulf/native/%.c,beowulf/native/build/%.so,$(wildcard beowulf/native/*.c))

programs: $(NATIVE) ## build our own C parts

beowulf/native/build/%.so: beowulf/native/%.c
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -shared -fPIC -o $@ $<
.PHONY: programs
