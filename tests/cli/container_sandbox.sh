# In a container that has Docker's default profile, and as an ordinary user, processes are confined as wholly as elsewhere, and
# find the same. The profile's list: https://docs.docker.com/engine/security/seccomp/
"$BURIN" list sandbox >here
grep -q 'not ' here && { echo "this machine can't confine a process wholly"; exit 77; }
[[ $(uname -m) == x86_64 ]] || { echo "the calls' numbers are those of x86-64"; exit 77; }
. "$SRCDIR/tests/cli/helpers"

cat >contained <<'PY'
import ctypes, os, struct, sys
# acct, add_key, bpf, clock_adjtime, clock_settime, create_module, delete_module, finit_module, get_kernel_syms, get_mempolicy,
# init_module, io_uring_*, ioperm, iopl, kcmp, kexec_file_load, kexec_load, keyctl, lookup_dcookie, mbind, mount, move_pages,
# nfsservctl, open_by_handle_at, perf_event_open, pivot_root, process_vm_readv, process_vm_writev, ptrace, query_module, quotactl,
# reboot, request_key, set_mempolicy, setns, settimeofday, swapoff, swapon, sysfs, _sysctl, umount2, unshare, uselib, userfaultfd, ustat
numbers = [163, 248, 321, 305, 227, 174, 176, 313, 177, 239, 175, 425, 426, 427, 173, 172, 312, 320, 246, 250, 212, 237, 165, 279,
           180, 304, 298, 155, 310, 311, 101, 178, 179, 169, 249, 238, 308, 164, 168, 167, 139, 156, 166, 272, 134, 323, 136]
code = [(0x20, 0, 0, 0)] + [(0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)]
code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x50000 | 1)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))) == 0
if os.getuid() == 0 and "user" in sys.argv[1]:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
os.execvp(sys.argv[2], sys.argv[2:])
PY
# The folder of a case is closed to other users.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 777 "$work"
cp "$SRCDIR/images/sample.E01" here contained "$work"
cd "$work" || exit
chmod 644 sample.E01 here contained
# A build with the leak sanitizer would trace itself, which the profile refuses.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
contained=root
# Where the program is may be closed to other users.
python3 contained user "$BURIN" --version >/dev/null 2>&1 && contained=user
python3 contained $contained "$BURIN" list sandbox | cmp - here && echo "confined as wholly"
for mode in off require; do
	python3 contained $contained "$BURIN" carve --quiet --sandbox=$mode -c "$SRCDIR/conf/burin.conf" -o $mode sample.E01
	echo "$mode: exit $?"
done
same_results off require && echo "the same"
