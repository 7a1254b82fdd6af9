try() { "$BURIN" "$@"; echo "$?"; }
try list --jsno engines
try list --wibble engines
try list -z engines
try list --json=yes engines
try list types --config
try list types --rules-format scalpl
try conf check --sample 0 x
try conf check --sample many x
try verify --wibble
try version --wibble
try carve --wibble
# without a command: carve
try --wibble
try -c
