# burin-evidence alone has the libraries that parse file systems and the like, and those that these bring. burin finds
# it beside itself or in libexec, and says what is wrong with it.
for library in tsk ewf afflib bde vshadow cryptsetup curl ldap ssh2 gnutls krb5; do
	ldd "$BURIN" | grep -q "lib$library[-.0-9_]*\.so" && echo "burin is linked with lib$library"
done
. "$SRCDIR/tests/cli/helpers"
make_rules
mkdir -p bin libexec/burin
cp "$BURIN" bin/burin
carve() { bin/burin carve -c rec.conf -o "out.$1" "${@:2}" disk; echo "exit $?"; }
truncate -s 1M disk
carve missing
carve raw --file-systems off
cp "$(dirname "$BURIN")/burin-evidence" libexec/burin/
cp "$(dirname "$BURIN")/burin-carver" bin/
carve libexec
mv libexec/burin/burin-evidence bin/
carve beside
printf '#!/bin/sh\nexit 77\n' >bin/burin-evidence
carve other
"$(dirname "$BURIN")/burin-evidence"; echo $?
