/*
 * Files that are alike although their bytes differ: those that are no pictures, which burin has grouped by ssdeep's
 * digests, and pictures.
 */
burin.alikeText = "";

/* Called by the data: a group on each line, of rows from 0. */
burin.alikeFiles = function (text) {
	burin.alikeText = text;
};

/* Not those of equal files: they are the business of "Copies". */
burin.differ = function (files) {
	return new Set(files.map(function (i) { return burin.rows.hash[i] || i; })).size > 1;
};

burin.findAlikeFiles = function () {
	return burin.alikeText.split("\n").filter(Boolean).map(function (line) {
		return line.split(" ").map(Number);
	}).filter(burin.differ);
};

/*
 * Pictures that look alike although their bytes differ, by the 64 bits that burin computed with their thumbnails: two
 * are alike when at most mostDifferent bits differ. Those have at least one of eight bytes in common, by which they
 * are found without comparing each with each.
 */
burin.mostDifferent = 5;
/* Of a picture with fewer, or fewer zeros, nearly all is of one brightness: those are not compared. */
burin.leastBits = 8;

burin.differentBits = function (a, b) {
	let sum = 0;

	for (let i = 0; i < 2; i++) {
		let bits = a[i] ^ b[i];

		for (; bits; bits &= bits - 1)
			sum++;
	}
	return sum;
};

/* Those that are alike, also by way of others, in groups of files. */
burin.findAlikePictures = function () {
	const read = function (one) { return [parseInt(one[1].slice(0, 8), 16) | 0, parseInt(one[1].slice(8, 16), 16) | 0]; };
	const all = burin.rows.pictures.filter(function (one) {
		const sum = /^[0-9a-f]{16}/.test(one[1]) ? burin.differentBits(read(one), [0, 0]) : 0;

		return sum >= burin.leastBits && sum <= 64 - burin.leastBits;
	});
	const bits = all.map(read), first = new Map();
	const leader = all.map(function (one, i) { return i; }), groups = new Map();
	const lead = function (i) {
		while (leader[i] !== i)
			i = leader[i] = leader[leader[i]];
		return i;
	};

	all.forEach(function (one, i) {
		const same = one[1].slice(0, 16);

		if (!first.has(same))
			first.set(same, i);
		leader[i] = first.get(same);
	});
	for (let byte = 0; byte < 8; byte++) {
		const buckets = new Map();

		for (const i of first.values()) {
			const one = all[i], key = one[1].slice(2 * byte, 2 * byte + 2);

			if (!buckets.has(key))
				buckets.set(key, []);
			for (const other of buckets.get(key))
				if (lead(other) !== lead(i) && burin.differentBits(bits[other], bits[i]) <= burin.mostDifferent)
					leader[lead(i)] = lead(other);
			buckets.get(key).push(i);
		}
	}
	all.forEach(function (one, i) {
		if (!groups.has(lead(i)))
			groups.set(lead(i), []);
		groups.get(lead(i)).push(one[0]);
	});
	return Array.from(groups.values()).filter(burin.differ);
};
