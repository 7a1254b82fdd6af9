/* Which files are shown, in which order, and which are selected. */
burin.view = new Uint32Array(0); /* indices of the files that are shown */
burin.sortBy = { key: "offset", down: false };
burin.chosenTypes = new Set();
burin.onlyHash = "";
burin.onlyFiles = null; /* or a set of indices */

burin.sortKeys = {
	offset: function (rows, i) { return rows.offset[i]; },
	length: function (rows, i) { return rows.length[i]; },
	time: function (rows, i) { return isNaN(rows.time[i]) ? Infinity : rows.time[i]; },
	status: function (rows, i) { return rows.status[i]; },
	space: function (rows, i) { return rows.space[i]; },
	copies: function (rows, i) { return rows.copies[i]; },
	type: function (rows, i) { return burin.types[rows.type[i]].name; },
	path: function (rows, i) { return rows.path[i]; },
	hash: function (rows, i) { return rows.hash[i] || "\uffff"; },
	original: function (rows, i) { return rows.line[i].split("\t")[15] || "\uffff"; },
	title: function (rows, i) { return rows.line[i].split("\t")[16] || "\uffff"; }
};

/* The form's values; an invalid field is marked and ignored. */
burin.readFilter = function () {
	const value = function (id) { return burin.id(id).value; };
	const field = function (id, parse) {
		const number = parse(value(id));

		burin.id(id).setAttribute("aria-invalid", Number.isNaN(number) ? "true" : "false");
		return Number.isNaN(number) ? undefined : number;
	};
	const size = function (id) { return field(id, burin.parseSize); };
	const day = function (id) { return field(id, burin.parseDay); };

	return {
		text: value("f-text").toLowerCase().split(/\s+/).filter(Boolean),
		status: burin.statuses.indexOf(value("f-status")),
		space: value("f-space") === "-" ? 0 : burin.spaces.indexOf(value("f-space") || "none"),
		mark: value("f-mark"), copies: burin.id("f-copies").checked,
		picked: burin.id("f-picked").checked,
		least: size("f-least"), most: size("f-most"), after: day("f-after"), before: day("f-before"),
		start: size("f-start"), end: size("f-end")
	};
};

/* One test for each condition. */
burin.tests = function (filter) {
	const rows = burin.rows, tests = [];
	const ask = function (wanted, test) {
		if (wanted)
			tests.push(test);
	};

	ask(burin.chosenTypes.size, function (i) { return burin.chosenTypes.has(rows.type[i]); });
	ask(burin.onlyFiles, function (i) { return burin.onlyFiles.has(i); });
	ask(burin.onlyHash, function (i) { return rows.hash[i] === burin.onlyHash; });
	ask(filter.status >= 0, function (i) { return rows.status[i] === filter.status; });
	ask(filter.space >= 0, function (i) { return rows.space[i] === filter.space; });
	ask(filter.mark === "alert", function (i) { return rows.alert[i]; });
	ask(filter.mark === "known", function (i) { return rows.known[i]; });
	ask(filter.mark === "plain", function (i) { return !rows.alert[i] && !rows.known[i]; });
	ask(filter.copies, function (i) { return rows.copies[i] > 1; });
	ask(filter.picked, function (i) { return burin.picked[i]; });
	ask(filter.least !== undefined, function (i) { return rows.length[i] >= filter.least; });
	ask(filter.most !== undefined, function (i) { return rows.length[i] <= filter.most; });
	ask(filter.after !== undefined, function (i) { return rows.time[i] >= filter.after; });
	ask(filter.before !== undefined, function (i) { return rows.time[i] < filter.before + 86400; });
	ask(filter.start !== undefined, function (i) { return rows.offset[i] + rows.length[i] > filter.start; });
	ask(filter.end !== undefined, function (i) { return rows.offset[i] <= filter.end; });
	ask(filter.text.length, function (i) {
		return filter.text.every(function (word) { return burin.lower(i).includes(word); });
	});
	return tests;
};

/* A file's texts in lower case; made when they are searched for the first time. */
burin.lower = function (index) {
	const rows = burin.rows;

	rows.lower = rows.lower || new Array(rows.count);
	return rows.lower[index] || (rows.lower[index] = rows.line[index].toLowerCase());
};

burin.sortView = function () {
	const rows = burin.rows, key = burin.sortKeys[burin.sortBy.key];
	const sign = burin.sortBy.down ? -1 : 1;
	let keys;

	if (burin.sortBy.key === "offset" && !burin.sortBy.down && burin.inOrder) {
		burin.view.sort(); /* in the report's order */
		return;
	}
	keys = new Array(rows.count);
	for (const i of burin.view)
		keys[i] = key(rows, i);
	burin.view.sort(function (a, b) {
		return keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b;
	});
};

burin.applyFilter = function () {
	const tests = burin.tests(burin.readFilter()), view = new Uint32Array(burin.rows.count);
	let count = 0;

	for (let i = 0; i < burin.rows.count; i++)
		if (tests.every(function (test) { return test(i); }))
			view[count++] = i;
	burin.view = view.slice(0, count);
	burin.shown = new Uint8Array(burin.rows.count);
	for (const i of burin.view)
		burin.shown[i] = 1;
	burin.filtered = tests.length > 0;
	burin.sortView();
	burin.emit("view");
};

burin.setSort = function (key) {
	burin.sortBy = { key: key, down: burin.sortBy.key === key && !burin.sortBy.down };
	burin.sortView();
	burin.emit("view");
};

/* Shows the files in a range of the image, without any other condition. */
burin.showRange = function (start, end) {
	burin.clearFilter();
	burin.id("more").open = true;
	burin.id("f-start").value = start;
	burin.id("f-end").value = end - 1;
	burin.applyFilter();
};

burin.showCopies = function (hash) {
	burin.clearFilter();
	burin.onlyHash = hash;
	burin.applyFilter();
};

/* These files, without any other condition. */
burin.showOnly = function (files) {
	burin.clearFilter();
	burin.onlyFiles = new Set(files);
	burin.applyFilter();
};

burin.clearFilter = function () {
	for (const element of burin.id("filter").elements)
		if (element.type === "checkbox")
			element.checked = false;
		else if (element.value)
			element.value = "";
	burin.chosenTypes.clear();
	burin.onlyHash = "";
	burin.onlyFiles = null;
};

/* ---- the selection ---- */

burin.pick = function (index, on) {
	burin.pickedCount += (on ? 1 : 0) - burin.picked[index];
	burin.picked[index] = on ? 1 : 0;
};

burin.toggle = function (index) {
	burin.pick(index, !burin.picked[index]);
	burin.emit("picked");
};

/* From one row of the view to another. */
burin.pickRange = function (from, to) {
	for (let i = Math.min(from, to); i <= Math.max(from, to); i++)
		burin.pick(burin.view[i], true);
	burin.emit("picked");
};

/* ---- the form ---- */

burin.startFilter = function () {
	const form = burin.id("filter");
	let timer = 0;

	burin.inOrder = burin.rows.offset.every(function (offset, i, all) {
		return !i || all[i - 1] <= offset;
	});
	form.addEventListener("submit", function (event) { event.preventDefault(); });
	form.addEventListener("input", function () {
		clearTimeout(timer);
		timer = setTimeout(burin.applyFilter, 120);
	});
	form.addEventListener("reset", function (event) {
		event.preventDefault();
		burin.clearFilter();
		burin.applyFilter();
	});
	burin.id("more").open = matchMedia("(min-width: 900px)").matches;
	burin.startTypes();
	burin.id("pick-all").addEventListener("click", function () {
		if (burin.view.length)
			burin.pickRange(0, burin.view.length - 1);
	});
	burin.id("pick-none").addEventListener("click", function () {
		burin.picked.fill(0);
		burin.pickedCount = 0;
		burin.emit("picked");
	});
	burin.on("view", burin.describePicked);
	burin.on("picked", burin.describePicked);
};

burin.startTypes = function () {
	const chips = burin.types.map(function (type, index) {
		const dot = burin.make("i", { class: "dot" });

		dot.style.background = burin.colour(index);
		return burin.button([dot, type.name, burin.make("b", {}, burin.count(type.files))], function () {
			if (!burin.chosenTypes.delete(index))
				burin.chosenTypes.add(index);
			burin.applyFilter();
		}, { title: burin.size(type.bytes) });
	});

	burin.id("types").append.apply(burin.id("types"), chips);
	burin.on("view", function () {
		chips.forEach(function (chip, index) {
			chip.setAttribute("aria-pressed", burin.chosenTypes.has(index));
		});
	});
};

burin.describePicked = function () {
	let bytes = 0;

	if (burin.pickedCount)
		for (let i = 0; i < burin.rows.count; i++)
			bytes += burin.picked[i] * burin.rows.length[i];
	burin.id("picked-says").textContent =
		(burin.filtered ? burin.count(burin.view.length) + " of " : "") +
		burin.files(burin.rows.count) + (burin.filtered ? " shown" : "") + "; " +
		(burin.pickedCount ? burin.count(burin.pickedCount) + " selected, " + burin.size(bytes)
			: "none selected");
	for (const name of ["csv", "report", "hashes"])
		burin.id("save-" + name).disabled = !burin.rows.count;
};
