# The program is built with what the compiler and the linker have against attackers (src/packaging/detect).
command -v readelf >/dev/null && [[ $(uname -m) == x86_64 ]] || { echo "readelf is not installed, or this is another machine"; exit 77; }
readelf -Ws "$BURIN" | grep -qE '__(a|t)san_init' && { echo "a sanitizer's build"; exit 77; }
says() # WHAT PATTERN OPTION...: whether readelf prints it
{
	local what=$1 pattern=$2; shift 2
	readelf -W "$@" "$BURIN" | grep -qE "$pattern" && echo "$what: yes" || echo "$what: no"
}
says "position independent" 'Type: *DYN' -h
says "relocations read-only" GNU_RELRO -l
says "bound at the start" BIND_NOW -d
says "stack not executable" 'GNU_STACK.* RW ' -l
says "stack protector" __stack_chk_fail --dyn-syms
says "fortified functions" '__[a-z]*printf_chk' --dyn-syms
# The names of the flags are in the debugging information, where it is not stripped.
if readelf -WS "$BURIN" | grep -q debug_str; then
	for flag in -fstack-clash-protection -fcf-protection -fstack-protector-strong; do
		readelf -p .debug_str -p .debug_line_str "$BURIN" | grep -E 'GNU C[0-9]' | grep -vq -- "$flag" && echo "something is compiled without $flag"
	done
fi
exit 0
