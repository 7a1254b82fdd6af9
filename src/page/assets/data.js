/*
 * The files. What is sorted, filtered or drawn is in columns; the rest is cut out of the file's
 * line when it is needed (burin.file), so that 200,000 files load in a second.
 */
burin.statuses = ["complete", "truncated", "unverified"];
burin.spaces = ["", "yes", "no", "partly", "slack"];

/* In the order of src/page/page_data.c. */
burin.fields = ["path", "type", "rule", "offset", "length", "extension", "status", "end", "reason",
	"runs", "md5", "sha1", "sha256", "unreadable", "allocated", "fs_path", "title", "time",
	"known", "alert", "assembly", "kind", "picture", "flags", "fs"];

burin.parts = [];

/* Called by the data: a part of the rows, as text. */
burin.part = function (text) {
	burin.parts.push(text);
};

/* Called last: the records of the run and the summary, and how the page was made, in JSON. */
burin.begin = function (run, summary, made) {
	burin.runText = run;
	burin.run = JSON.parse(run);
	burin.summary = JSON.parse(summary);
	burin.made = JSON.parse(made);
};

burin.loadRows = function () {
	const lines = [];
	let rows;

	for (const part of burin.parts)
		for (const line of part.split("\n"))
			if (line)
				lines.push(line);
	burin.parts = [];
	rows = {
		count: lines.length, line: lines, path: new Array(lines.length),
		hash: new Array(lines.length),
		type: new Uint16Array(lines.length), status: new Uint8Array(lines.length),
		space: new Uint8Array(lines.length), thumb: new Uint8Array(lines.length),
		known: new Uint8Array(lines.length), alert: new Uint8Array(lines.length),
		copies: new Uint32Array(lines.length), written: new Uint8Array(lines.length),
		offset: new Float64Array(lines.length), length: new Float64Array(lines.length),
		time: new Float64Array(lines.length)
	};
	burin.rows = rows;
	burin.types = [];
	burin.fillRows(rows);
	burin.sortTypes(rows);
	burin.countCopies(rows);
	burin.loadRuns(rows);
	burin.picked = new Uint8Array(rows.count);
	burin.pickedCount = 0;
};

burin.fillRows = function (rows) {
	const types = new Map();

	rows.extents = []; /* of files in several extents */
	rows.pictures = []; /* what those look like that have thumbnails, and where they were taken */
	for (let i = 0; i < rows.count; i++) {
		const cells = rows.line[i].split("\t");

		if (!types.has(cells[21])) { /* the kind: docx, not zip */
			types.set(cells[21], burin.types.length);
			burin.types.push({ name: cells[21], files: 0, bytes: 0 });
		}
		rows.path[i] = cells[0];
		rows.type[i] = types.get(cells[21]);
		rows.offset[i] = +cells[3];
		rows.length[i] = +cells[4];
		rows.status[i] = burin.statuses.indexOf(cells[6]);
		if (cells[9])
			rows.extents.push([i, cells[9]]);
		rows.hash[i] = cells[12] || cells[11] || cells[10];
		rows.space[i] = Math.max(0, burin.spaces.indexOf(cells[14]));
		rows.time[i] = cells[17] ? +cells[17] : NaN;
		rows.known[i] = cells[18] ? 1 : 0;
		if (cells[22])
			rows.pictures.push([i, cells[22]]);
		rows.alert[i] = cells[19] ? 1 : 0;
		rows.written[i] = cells[23][1] === "w" ? 1 : 0;
		rows.thumb[i] = "-yf".indexOf(cells[23][2]);
		burin.types[rows.type[i]].files++;
		burin.types[rows.type[i]].bytes += rows.length[i];
	}
};

/* The most frequent type first: it gets the first colour. */
burin.sortTypes = function (rows) {
	const order = burin.types.map(function (type, index) { return index; });
	const place = [];

	order.sort(function (a, b) { return burin.types[b].files - burin.types[a].files; });
	order.forEach(function (old, now) { place[old] = now; });
	burin.types = order.map(function (old) { return burin.types[old]; });
	for (let i = 0; i < rows.count; i++)
		rows.type[i] = place[rows.type[i]];
};

burin.countCopies = function (rows) {
	const seen = new Map();

	for (let i = 0; i < rows.count; i++)
		if (rows.hash[i])
			seen.set(rows.hash[i], (seen.get(rows.hash[i]) || 0) + 1);
	for (let i = 0; i < rows.count; i++)
		rows.copies[i] = rows.hash[i] ? seen.get(rows.hash[i]) : 1;
};

burin.parseRuns = function (text, offset, length) {
	if (text === "-")
		return [];
	if (!text)
		return [[offset, length]];
	return text.split(",").map(function (run) { return run.split("+").map(Number); });
};

/* Degrees north and east; null: not known. */
burin.parsePlace = function (picture) {
	const at = picture.indexOf(" ");

	return at < 0 ? null : picture.slice(at + 1).split(",").map(function (angle) { return angle / 1e6; });
};

/* The report's object from the row's text: page_data.c describes it. */
burin.parseAssembly = function (text) {
	const [by, tested, evidence, doubt] = text.split(" "), assembly = { by: by };

	if (+tested) {
		assembly.tested = +tested;
		assembly.evidence = +evidence;
	}
	if (doubt)
		assembly.doubt = burin.parseRuns(doubt);
	return assembly;
};

/* Every extent of every file in the order of offsets, and how far the extents up to each reach:
 * that finds those in a range although they overlap. */
burin.loadRuns = function (rows) {
	const extents = new Map(rows.extents), list = [];
	let reach = 0;

	for (let i = 0; i < rows.count; i++) {
		if (!extents.has(i)) {
			list.push([rows.offset[i], rows.length[i], i]);
			continue;
		}
		for (const run of burin.parseRuns(extents.get(i)))
			list.push([run[0], run[1], i]);
	}
	delete rows.extents;
	list.sort(function (a, b) { return a[0] - b[0]; });
	burin.runs = {
		count: list.length, start: new Float64Array(list.length),
		end: new Float64Array(list.length), file: new Uint32Array(list.length),
		reach: new Float64Array(list.length)
	};
	list.forEach(function (run, i) {
		reach = Math.max(reach, run[0] + run[1]);
		burin.runs.start[i] = run[0];
		burin.runs.end[i] = run[0] + run[1];
		burin.runs.file[i] = run[2];
		burin.runs.reach[i] = reach;
	});
};

/* Calls each(start, end, file) for the extents that reach into start .. end. */
burin.eachRun = function (start, end, each) {
	const runs = burin.runs;
	let i = burin.search(runs.count, function (at) { return runs.reach[at] > start; });

	for (; i < runs.count && runs.start[i] < end; i++)
		if (runs.end[i] > start && each(runs.start[i], runs.end[i], runs.file[i]) === false)
			return;
};

burin.fsFlags = ["deleted", "resident", "compressed", "encrypted", "sparse", "guessed", "metadata",
	"reallocated"];
burin.fsTimes = ["modified", "accessed", "changed", "created"];

/* As src/page/page_data.c writes it; the object is that of report.jsonl. */
burin.parseFs = function (text) {
	const n = text.split(" ").map(Number);
	const fs = { volume: n[0], inode: n[1], attribute: [n[2], n[3]], size: n[4] };

	if (n.length > 10)
		fs.offset = n[10];
	fs.flags = burin.fsFlags.filter(function (name, i) { return n[5] >> i & 1; });
	burin.fsTimes.forEach(function (name, i) {
		if (n[6 + i])
			fs[name] = new Date(n[6 + i] * 1000).toISOString().slice(0, 19) + "Z";
	});
	return fs;
};

/* Everything about a file. */
burin.file = function (index) {
	const cells = burin.rows.line[index].split("\t"), file = {};

	burin.fields.forEach(function (name, i) { file[name] = cells[i]; });
	for (const name of ["rule", "offset", "length", "unreadable"])
		file[name] = +file[name];
	file.runs = burin.parseRuns(file.runs, file.offset, file.length);
	file.assembly = file.assembly ? burin.parseAssembly(file.assembly) : null;
	file.time = file.time ? +file.time : null;
	file.fs = file.fs ? burin.parseFs(file.fs) : null;
	file.chop = file.flags[0] === "c";
	file.written = file.flags[1] === "w";
	return file;
};

/* Relative to the page. */
burin.address = function (path) {
	return path.split("/").map(encodeURIComponent).join("/");
};

burin.thumbAddress = function (index) {
	return "thumbs/p" + String(index + 1).padStart(8, "0") + ".jpg";
};
