/* Problems first, in plain words; then what was found, and how. */
burin.verdicts = {
	match: ["good", "The evidence is what was acquired", "Its bytes have the hash that was stored with it."],
	mismatch: ["bad", "THE EVIDENCE IS NOT WHAT WAS ACQUIRED", "Its bytes have a different hash from the one stored with it."],
	partial: ["warn", "The evidence could not be checked", "Not all of it could be read, so its hash can't be compared."],
	hashed: ["plain", "The evidence was hashed; there is nothing to compare with", "It stores no hash of its own. Compare the hash below with your notes."],
	none: ["plain", "The evidence was not checked", "This run did not compute its hash (--verify does)."],
	unfinished: ["bad", "The run did not finish", "The report stops in the middle: files may be missing."]
};

burin.note = function (kind, title, lines) {
	const note = burin.make("div", { class: "note " + kind }, burin.make("strong", {}, title));

	for (const line of lines)
		if (line)
			note.append(burin.make("p", { dir: "auto" }, line));
	return note;
};

burin.hashWords = function (hashes) {
	return Object.keys(hashes || {}).map(function (name) {
		return name.toUpperCase().replace("SHA", "SHA-") + " " + hashes[name];
	});
};

burin.evidenceNote = function () {
	const summary = burin.summary, evidence = summary && summary.evidence || {};
	const state = evidence.state || burin.run.evidence;
	const words = burin.verdicts[burin.made.whole || state !== "none" ? state : "unfinished"] || burin.verdicts.none;

	return burin.note(words[0], words[1], [words[2]].concat(
		state === "mismatch" ? burin.hashWords(burin.run.image.stored_hashes).map(function (hash) { return "Stored: " + hash; }) : [],
		burin.hashWords(evidence.hashes).map(function (hash) { return state === "mismatch" ? "Found: " + hash : hash; })));
};

burin.sumOf = function (ranges) {
	return (ranges || []).reduce(function (sum, range) { return sum + range[1]; }, 0);
};

burin.problemNotes = function () {
	const summary = burin.summary || {}, notes = [];
	const alerts = burin.rows.alert.reduce(function (sum, one) { return sum + one; }, 0);

	if (!burin.made.whole)
		notes.push(burin.note("bad", burin.verdicts.unfinished[1], [burin.verdicts.unfinished[2]]));
	else if (!burin.summary)
		notes.push(burin.note("warn", "The run's sums are too long to be shown here", ["They are in the last line of report.jsonl."]));
	if (alerts)
		notes.push(burin.note("bad", burin.files(alerts) + (alerts === 1 ? " is" : " are") + " on an alert list", []));
	if (summary.signal)
		notes.push(burin.note("bad", "The run was interrupted", ["What was not searched may hold more files."]));
	if ((summary.problems || []).length)
		notes.push(burin.note(summary.exit > 1 ? "bad" : "warn", summary.problems.length === 1 ? "One problem" : summary.problems.length + " problems", summary.problems));
	if ((summary.unreadable || []).length)
		notes.push(burin.note("warn", burin.size(burin.sumOf(summary.unreadable)) + " of the image could not be read",
			["In " + burin.count(summary.unreadable.length) + (summary.unreadable.length === 1 ? " place" : " places") + ", striped on the map; files there hold zeros instead."].concat(
				(summary.damage || []).slice(0, 5).map(function (one) { return "At " + burin.count(one.offset) + ": " + one.why; }))));
	if ((burin.run.options || {}).dry_run)
		notes.push(burin.note("plain", "A dry run", ["No files were written. Select what you want, save report.jsonl, and give it to burin extract."]));
	return notes;
};

burin.card = function (label, value, more) {
	return burin.make("div", {}, [burin.make("dt", {}, label), burin.make("dd", {}, value),
		burin.make("dd", { class: "quiet" }, more || "")]);
};

burin.showSums = function () {
	const rows = burin.rows, states = [0, 0, 0];
	let bytes = 0, free = 0, copies = 0;
	const seen = new Set();

	for (let i = 0; i < rows.count; i++) {
		states[rows.status[i]]++;
		bytes += rows.length[i];
		free += rows.space[i] === 2;
		copies += rows.hash[i] && seen.has(rows.hash[i]) ? 1 : 0;
		seen.add(rows.hash[i]);
	}
	burin.id("sums").append(
		burin.card("Files", burin.count(rows.count), burin.size(bytes) + " of " + burin.size(burin.run.image.size)),
		burin.card("Complete", burin.count(states[0]), "checked to the last byte"),
		burin.card("Truncated", burin.count(states[1]), "start well, then break off"),
		burin.card("Unverified", burin.count(states[2]), "plausible, but not proven to the end"));
	if (rows.space.some(Boolean))
		burin.id("sums").append(burin.card("In free space", burin.count(free), "deleted, or never named"));
	if (copies)
		burin.id("sums").append(burin.card("Copies", burin.count(copies), "of other files here"));
};

burin.optionWords = function (options) {
	return Object.keys(options || {}).filter(function (key) {
		const value = options[key];

		return key !== "hash" && value !== null && value !== false && value !== 0;
	}).map(function (key) { return key.replace(/_/g, " ") + (options[key] === true ? "" : " " + options[key]); }).join(", ");
};

burin.formatName = function (format) {
	return format === "ewf" ? "E01" : format;
};

burin.volumeWords = function (volume) {
	return [volume.file_system || volume.description, volume.label, burin.size(volume.length)].filter(Boolean).join(", ");
};

burin.showRun = function () {
	const run = burin.run, image = run.image, engine = run.engine || {}, rules = run.rules || {};
	const summary = burin.summary || {}, seconds = summary.seconds || {}, about = run.case || {};
	const acquisition = Object.keys(image.acquisition || {}).map(function (key) {
		return [key.replace(/_/g, " "), image.acquisition[key]];
	});

	burin.facts(burin.id("run"), [
		["Case", about.number], ["Examiner", about.examiner], ["Note", about.note],
		["Evidence", (image.paths || [image.path]).slice(0, 20).join(", ")],
		["Format", burin.formatName(image.format) + ", " + burin.exactly(image.size)],
		["Stored hashes", burin.hashWords(image.stored_hashes).join(", ")],
		["Result", summary.evidence && summary.evidence.sentence]
	].concat(acquisition, [
		["Partition table", run.partition_table]
	], (run.volumes || []).map(function (volume) {
		return ["Volume at " + burin.count(volume.offset), burin.volumeWords(volume) + (volume.note ? ": " + volume.note : "")];
	}), [
		["Rules", rules.path + ", " + rules.count + " rules, SHA-256 " + rules.sha256],
		...(run.plugins || []).map(plugin => ["Plug-in", plugin.path + ", SHA-256 " + plugin.sha256]),
		["Options", burin.optionWords(run.options) || "none that change the result"],
		["Engine", [engine.name, engine.kernel, engine.reason].filter(Boolean).join("; ")],
		["Searched by", (summary.engines || []).map(function (one) {
			return [one.name, one.kernel, burin.size(one.bytes), one.why].filter(Boolean).join(", ");
		}).join("; ")],
		["Threads", engine.threads],
		["Machine", run.host],
		["Command", (run.command || []).join(" ")],
		["Started", run.started], ["Finished", summary.finished],
		["Resumed", (summary.resumed || []).map(function (one) { return one.at; }).join(", ")],
		["Duration", seconds.total === undefined ? "" : seconds.total.toFixed(1) + " s"],
		["Output", run.output],
		["burin", run.burin + (run.commit ? ", commit " + run.commit : "") + (burin.made.burin === run.burin ? "" : "; this page by " + burin.made.burin)]
	]));
};

burin.showLeftOut = function () {
	const summary = burin.summary || {}, rows = [];

	for (const name of ["skipped", "rejected"])
		for (const key of Object.keys(summary[name] || {}))
			rows.push([key, summary[name][key], name]);
	rows.sort(function (a, b) { return b[1] - a[1]; });
	burin.id("left-box").hidden = !rows.length;
	burin.facts(burin.id("left-out"), rows.slice(0, 200).map(function (row) {
		return [burin.count(row[1]) + " " + row[2], row[0]];
	}));
};

burin.startSummary = function () {
	const image = burin.run.image, name = burin.clean(String(image.path)).split("/").pop();
	const verdict = burin.id("verdict"), options = burin.run.options || {};

	document.title = name + " - burin";
	burin.id("image-name").textContent = name;
	burin.id("image-facts").textContent = burin.clean(burin.formatName(image.format) + ", " + burin.size(image.size) +
		", searched " + String(burin.run.started || "").slice(0, 10) + " with " + burin.count((burin.run.rules || {}).count || 0) + " rules" +
		[["number", "case"], ["examiner", "examiner"]].map(function (field) {
			const text = (burin.run.case || {})[field[0]];

			return text ? "; " + field[1] + " " + text : "";
		}).join(""));
	verdict.append(burin.evidenceNote());
	verdict.append.apply(verdict, burin.problemNotes());
	if (verdict.children.length === 1)
		verdict.append(burin.note("good", "The run had no problems", [options.offset || options.length || options.space
			? "Only part of the image was to be searched (see the run's options); all of that was read."
			: "Everything was read and searched."]));
	if (((burin.summary || {}).cautions || []).length)
		verdict.append(burin.note("warn", "A run without problems may still prove little", burin.summary.cautions));
	burin.showSums();
	burin.showRun();
	burin.showLeftOut();
	burin.id("foot").textContent = "Made by burin " + burin.clean(burin.made.burin) + " from report.jsonl. Times are UTC. This page loads nothing from elsewhere.";
};
