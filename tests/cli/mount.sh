# burin mount: files of reports, read from the evidence. Without root, where that can be tried.
. "$SRCDIR/tests/cli/helpers"
[[ -w /dev/fuse ]] && command -v fusermount3 >/dev/null || { echo "/dev/fuse or fusermount3 is missing"; exit 77; }
# Root cannot see what others mount, so all of this is somebody else's, if that one may read the program and the image.
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if ((EUID == 0)); then
	chmod 777 . && chmod a+x ..
	"${nobody[@]}" test -x "$BURIN" -a -r "$SRCDIR/images/sample.E01" -a -r "$0" -a -w . &&
		exec "${nobody[@]}" bash -u "$0"
fi
mkdir point
trap 'fusermount3 -uqz point' EXIT
mount() { "$BURIN" mount "$@" 2>messages; echo "exit $?"; grep -v files$ messages; }
gone() { ! grep -q " $PWD/point " /proc/mounts; }
try carve --quiet -p -o plan "$SRCDIR/images/sample.E01"
# pieces, names that no folder can hold, the same name twice, a part of another file, and a date
python3 - <<'PY'
import json
lines = [json.loads(line) for line in open("plan/report.jsonl")]
files = [line for line in lines if line["record"] == "file"]
def place(file, path, offset=0, **more):
    file["fs_path"] = path
    file["fs"] = {"volume": 0, "inode": 5, "attribute": [1, 0], "size": file["length"], "offset": offset, "flags": [], **more}
files[0]["runs"] = [[53248 + 100, 1000], [53248, 100], [200000, 150000]]
files[0]["length"] = 151100
place(files[0], "Users/me/a.jpg", modified="2001-02-03T04:05:06Z")
place(files[1], "Users/me/a.jpg")
place(files[2], "Users/me/a.jpg", 4096)
place(files[3], "../../etc/passwd")
place(files[4], "Users/me/a.jpg/inside")
place(files[5], "long/" + "\u00e4" * 200 + ".zip")
open("edited.jsonl", "w").write("".join(json.dumps(line) + "\n" for line in lines))
PY
try extract --quiet -o out edited.jsonl
echo --- mounted
mount edited.jsonl point
! grep 'built without' messages || exit 77
(cd point && ls && find path date -type f | sort && ls -l --time-style=+%F type/jpeg/0000053248.jpg | cut -d' ' -f1,5-)
echo x 2>&1 >point/new | sed 's/.*: //'
python3 - <<'PY'
import concurrent.futures, glob, os, random
names = [name[len("point/type/"):] for name in sorted(glob.glob("point/type/*/*"))]
data = {name: open("out/" + name, "rb").read() for name in names}
print(len(names), "files, equal to extract's:", all(open("point/type/" + name, "rb").read() == data[name] for name in names))
def read(seed):
    draw = random.Random(seed)
    for _ in range(100):
        name = draw.choice(names)
        at, count = draw.randrange(len(data[name]) + 100), draw.randrange(70000)
        fd = os.open("point/type/" + name, os.O_RDONLY)
        try:
            if os.pread(fd, count, at) != data[name][at:at + count]:
                return (name, at, count)
        finally:
            os.close(fd)
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print("read in parallel:", set(pool.map(read, range(8))))
path = "point/path/Users/me/a.jpg"
folder = os.open("point/type", os.O_RDONLY)
for at in 99, 1 << 20, 1 << 31, 1 << 40:
    os.lseek(folder, at, os.SEEK_SET)
    os.listdir(folder)
os.close(folder)
print({name: os.getxattr(path, name).decode() for name in os.listxattr(path)})
PY
fusermount3 -u point; wait_until gone
echo --- from the folder of a run, in the foreground, ended by a signal
"$BURIN" mount -f plan "$SRCDIR/images/sample.E01" point 2>/dev/null &
wait_until test -d point/type
ls point
kill -TERM $!; wait $!; echo "exit $?"
wait_until gone
echo --- what can not be read
cp "$SRCDIR/images/sample.E01" bad.E01
printf 'XXXXXXXX' | dd of=bad.E01 bs=1 seek=400000 conv=notrunc status=none
failing() { (cd point/type && cat */* 2>&1 >/dev/null | sed 's/.*: //' | sort | uniq -c); }
mount plan bad.E01 point
failing
fusermount3 -u point; wait_until gone
mount --unreadable zeros plan bad.E01 point
failing
fusermount3 -u point; wait_until gone
echo --- refused
truncate -s 5000 small
mount plan small point
mount plan missing point
mount missing point
mount plan nowhere
mount plan small
mount plan .
