# Too few and too many arguments.
try() { "$BURIN" "$@"; echo "$?"; }
try list
try list engines types
try list wibble
try version 1
try verify
try conf check
try conf convert a b
try carve
