# A word that is neither a command nor a file.
try() { "$BURIN" "$@"; echo "$?"; }
try crave
try lst
try wibble
try conf
try conf chekc x
try conf wibble x
try help wibble
try ''
