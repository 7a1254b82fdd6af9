/*
 * Everything about one file. Its bytes are the evidence's: none are loaded before the user asks,
 * and only kinds that a browser shows without executing anything in them.
 */
burin.pictureKinds = ["jpg", "jpeg", "png", "gif", "webp", "bmp", "ico", "avif"];
burin.filmKinds = ["mp4", "m4v", "mov", "webm", "mkv", "ogv"];
burin.audioKinds = ["mp3", "ogg", "oga", "flac", "wav", "m4a", "opus", "aac"];

burin.meanings = {
	complete: "parsed from the first byte to the last, and everything checked agreed",
	truncated: "starts well, then breaks off",
	unverified: "plausible, but not verified to the end",
	carver: "the format itself", length: "a length field", footer: "a footer", next: "the next header",
	max_size: "the rule's largest size", image: "the end of the image",
	yes: "in use by a file system", no: "free in the file system", partly: "partly in use",
	slack: "slack: after the end of a file, in its last block or its file record"
};

burin.kindOf = function (file) {
	const kind = (file.extension || file.type).toLowerCase();

	return burin.pictureKinds.includes(kind) ? "img" : burin.filmKinds.includes(kind) ? "video"
		: burin.audioKinds.includes(kind) ? "audio" : "";
};

burin.explain = function (word) {
	return burin.meanings[word] ? word + ": " + burin.meanings[word] : word;
};

burin.describeRuns = function (file) {
	const sector = burin.sectorSize();
	const shown = file.runs.slice(0, 50).map(function (run) {
		return burin.count(run[0]) + " + " + burin.count(run[1]) +
			" (sector " + burin.count(Math.floor(run[0] / sector)) + ")";
	});

	if (file.runs.length > shown.length)
		shown.push("and " + burin.count(file.runs.length - shown.length) + " more");
	return shown.join("; ");
};

/* Where its bytes jump in the image. */
burin.describeSeams = function (file) {
	const seams = [];
	let at = 0;

	file.runs.forEach(function (run, i) {
		if (i && i <= 50)
			seams.push("at byte " + burin.count(at) + " from " + burin.count(file.runs[i - 1][0] + file.runs[i - 1][1]) + " to " + burin.count(run[0]));
		at += run[1];
	});
	if (file.runs.length > 51)
		seams.push("and " + burin.count(file.runs.length - 51) + " more");
	return seams.join("; ");
};

burin.assemblies = {
	"file-system": "found by the records of the file system",
	"pointer-blocks": "put together by the layout of ext2 and ext3: blocks of pointers between data",
	"run-list": "put together by a list of extents that belongs to no known file system",
	table: "put together by offsets inside the file",
	near: "put together by a search close to its start",
	search: "put together by a search through the image"
};

burin.describeAssembly = function (assembly) {
	const facts = [burin.assemblies[assembly.by] || assembly.by];

	if (assembly.tested)
		facts.push(burin.count(assembly.tested) + " layouts tried, " + burin.count(assembly.evidence) + " bits of evidence");
	for (const doubt of assembly.doubt || [])
		facts.push("a joint is somewhere in bytes " + burin.count(doubt[0]) + " to " +
			burin.count(doubt[0] + doubt[1]) + " of the file");
	return facts.join("; ");
};

burin.describeFs = function (fs) {
	const facts = ["inode " + burin.count(fs.inode), burin.exactly(fs.size)];

	if (fs.offset >= fs.size)
		facts.push(burin.count(fs.offset - fs.size) + " bytes after its end");
	else if (fs.offset)
		facts.push("at offset " + burin.count(fs.offset));
	for (const name of burin.fsTimes)
		if (fs[name])
			facts.push(name + " " + fs[name].replace("T", " ").replace("Z", ""));
	return facts.concat(fs.flags).join("; ");
};

burin.fileFacts = function (file, index) {
	return [
		["Type", file.kind + (file.kind !== file.type ? " (by the rule " + file.type + ")" : "")],
		["Marked", burin.marks(index)],
		["Status", burin.explain(file.status)],
		["Reason", file.reason],
		["Size", burin.exactly(file.length)],
		["Offset", burin.count(file.offset) + " (0x" + file.offset.toString(16) + ")"],
		["Extents", burin.describeRuns(file)],
		["Seams", burin.describeSeams(file)],
		["Pieces", file.assembly ? burin.describeAssembly(file.assembly) : ""],
		["End determined by", burin.meanings[file.end] || file.end],
		["Unreadable", file.unreadable ? burin.exactly(file.unreadable) + ", zeros in the file" : ""],
		["Space", burin.meanings[file.allocated] || file.allocated],
		["In the file system", file.fs_path],
		["There", file.fs ? burin.describeFs(file.fs) : ""],
		["Title", file.title],
		["Date inside", file.time === null ? "" : burin.time(file.time) + " UTC"],
		["Place", burin.describePlace(burin.parsePlace(file.picture))],
		["MD5", file.md5], ["SHA-1", file.sha1], ["SHA-256", file.sha256],
		["Copies", burin.rows.copies[index] > 1 ? burin.count(burin.rows.copies[index]) : ""],
		["Written", file.written ? "" : "no: a dry run, or writing failed"]
	];
};

burin.describePlace = function (place) {
	return place ? place[0].toFixed(5) + ", " + place[1].toFixed(5) + " (latitude, longitude; by its EXIF data)" : "";
};

burin.marks = function (index) {
	const file = burin.file(index);

	return [file.alert && "alert: " + file.alert, file.known && "known: " + file.known]
		.filter(Boolean).join("; ");
};

/* The thumbnail, or a way to the original. */
burin.showView = function (file, index) {
	const view = burin.id("d-view"), kind = burin.kindOf(file);

	view.replaceChildren();
	if (burin.rows.thumb[index] === 1)
		view.append(burin.thumb(index));
	if (!kind || !file.written)
		return;
	view.append(burin.button(kind === "img" ? "Show the original" : "Play the original", function () {
		const original = burin.make(kind, { src: burin.address(file.path), class: "original" });

		if (kind === "img")
			original.alt = "";
		else
			original.controls = true;
		original.addEventListener("error", function () {
			original.replaceWith(burin.make("p", { class: "quiet" }, "The browser can't show this file."));
		});
		view.replaceChildren(original);
	}, { title: "Loads the carved file itself into this page" }));
};

burin.openFile = function (index) {
	const file = burin.file(index), acts = burin.id("d-acts"), dialog = burin.id("details");
	const close = function (then) {
		return function () { dialog.close(); then(); };
	};

	burin.opened = index;
	burin.id("d-path").textContent = burin.clean(file.path);
	burin.facts(burin.id("d-facts"), burin.fileFacts(file, index));
	burin.showView(file, index);
	burin.showPreview(file, index);
	acts.replaceChildren(
		burin.button(burin.picked[index] ? "Unselect" : "Select", function () {
			burin.toggle(index);
			burin.openFile(index);
		}),
		burin.button("Show on the map", close(function () { burin.mapShow(index); })));
	if (burin.rows.copies[index] > 1)
		acts.append(burin.button("Show the copies", close(function () { burin.showCopies(burin.rows.hash[index]); })));
	if (navigator.clipboard)
		acts.append(burin.button("Copy the path", function () { navigator.clipboard.writeText(file.path); }));
	if (!dialog.open)
		dialog.showModal();
};

burin.startDetails = function () {
	const dialog = burin.id("details");
	const step = function (by) {
		const at = burin.view.indexOf(burin.opened) + by;

		if (at >= 0 && at < burin.view.length)
			burin.openFile(burin.view[at]);
	};

	burin.id("d-prev").addEventListener("click", function () { step(-1); });
	burin.id("d-next").addEventListener("click", function () { step(1); });
	burin.id("d-close").addEventListener("click", function () { dialog.close(); });
	dialog.addEventListener("close", function () { burin.id("d-view").replaceChildren(); });
	dialog.addEventListener("keydown", function (event) {
		if (/^(VIDEO|AUDIO)$/.test(event.target.tagName))
			return;
		if (event.key === "ArrowLeft" || event.key === "ArrowRight")
			step(event.key === "ArrowLeft" ? -1 : 1);
	});
};
