# burin-evidence and burin-filesystems alone have the libraries that parse containers and file systems, and only the second one has
# network libraries, which libtsk brings. burin finds them beside itself or in libexec, and says what is wrong with them.
for library in tsk ewf afflib bde vshadow cryptsetup curl ldap ssh2 gnutls krb5; do
	ldd "$BURIN" | grep -q "lib$library[-.0-9_]*\.so" && echo "burin is linked with lib$library"
done
for library in tsk curl ldap ssh2 gnutls krb5; do
	ldd "$(dirname "$BURIN")/burin-evidence" | grep -q "lib$library[-.0-9_]*\.so" && echo "burin-evidence is linked with lib$library"
done
. "$SRCDIR/tests/cli/helpers"
make_rules
mkdir -p bin libexec/burin
cp "$BURIN" bin/burin
carve() { bin/burin carve -c rec.conf -o "out.$1" "${@:2}" disk; echo "exit $?"; }
truncate -s 1M disk
carve missing
carve raw --file-systems off
cp "$(dirname "$BURIN")/burin-filesystems" libexec/burin/
cp "$(dirname "$BURIN")/burin-carver" bin/
carve libexec
mv libexec/burin/burin-filesystems bin/
carve beside
printf '#!/bin/sh\nexit 77\n' >bin/burin-filesystems
carve other
for program in burin-evidence burin-filesystems; do
	"$(dirname "$BURIN")/$program"; echo $?
done
