# Nearly all files of an image begin at clusters of 4096 bytes, but the pieces of some at smaller ones. Nothing verifies what is in
# the streams in which they meet, so they are not complete; but where the tables leave one sector for the joint, or the file is
# wrong with any other, it is.
. "$SRCDIR/tests/cli/helpers"
. "$SRCDIR/tests/cli/pieces_images"
cat >rules.conf <<'RULES'
types = (
  { name = "png"; header = "89 'PNG' 0d 0a 1a 0a"; max_size = "16M"; carver = "png"; },
  { name = "pdf"; header = "'%PDF-'"; max_size = "16M"; carver = "pdf"; },
);
RULES
make_pieces 34 <<'PY'
noise(2)
for _ in range(24):
    put(png(noisy(40)), 1)
def document(length, pack=bytes):
    """A PDF of streams of that many bytes, and where its objects begin."""
    data, places = bytearray(b"%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\n"), [9]
    for _ in range(40960 // length):
        content = pack(rng.randbytes(length))
        places.append(len(data))
        data.extend(b"%d 0 obj\n<<%s/Length %d>>\nstream\n%s\nendstream\nendobj\n" % (len(places), b"/Filter/FlateDecode" * (pack != bytes), len(content), content))
    at = len(data)
    data.extend(b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1))
    data.extend(b"".join(b"%010d 00000 n \n" % place for place in places))
    data.extend(b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, at))
    return bytes(data), places
def meet(found, into):
    """Plants a document in two pieces that meet this many bytes into a cluster that begins within a stream."""
    data, places = found
    cut = next(end // C * C for begin, end in zip(places[3:], places[4:]) if end // C * C - begin > 64 and end - end // C * C > into + 64)
    image.extend(data[:cut + into])
    image.extend(rng.randbytes(3 * C))
    put(data[cut + into:], 2)
    expect(data)
meet(document(3500), 512)
meet(document(3410), 1024)
meet(document(3620), 0)
meet(document(3350, zlib.compress), 0)
meet(document(400), 0)
PY
carve_image out
check_reports out image
show_files out '"assembly"'
for threads in 1 3; do
	carve_image out-$threads --threads $threads --chunk-size 16K
	same_results out out-$threads && echo "$threads: the same"
done
