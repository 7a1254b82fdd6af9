/*
 * The image as a grid of cells, read like a text: each cell is a number of whole sectors, coloured
 * by what takes most of it. It zooms from the whole image down to a cell per sector; above it are a
 * strip with the partitions and one that shows which part of the image is in view.
 */
burin.palette = ["#3b7dd8", "#e08a1e", "#2e9e6b", "#c9518f", "#8a63d2", "#b0a01a", "#1fa3b5", "#d9603b",
	"#6f9a2c", "#a0693f", "#d07fb5"];
burin.otherColour = "#8f959c";

/* The most frequent types have colours of their own; nobody could tell more apart, so the rest share one. */
burin.colour = function (type) {
	return burin.palette[type] || burin.otherColour;
};

burin.sectorSize = function () {
	return burin.run.image.sector_size || 512;
};

burin.map = { start: 0, end: 0, pitch: 10, lines: 20, cursor: 0, file: -1 };

/* What cells are coloured by: names, colours, and each file's index among them. */
burin.layers = {
	type: { label: "type", classes: function () {
		return burin.types.map(function (type, i) { return [type.name, burin.colour(i)]; });
	}, of: function (i) { return burin.rows.type[i]; } },
	status: { label: "status", classes: function () {
		return [["complete", "#2e9e6b"], ["truncated", "#e08a1e"], ["unverified", "#8b939c"]];
	}, of: function (i) { return burin.rows.status[i]; } },
	space: { label: "space", classes: function () {
		return [["unknown", "#8b939c"], ["in use", "#3b7dd8"], ["free", "#e08a1e"], ["partly in use", "#8a63d2"], ["slack", "#c2517c"]];
	}, of: function (i) { return burin.rows.space[i]; } }
};

/* ---- what is in the cells ---- */

burin.cellCount = function () {
	const map = burin.map;

	return Math.min(map.columns * map.lines, Math.ceil((map.end - map.start) / map.per));
};

/* Adds a range to the sums of a class: whole cells by a difference at both ends, so that the length
 * of a file costs nothing. */
burin.addRange = function (sums, k, start, end) {
	const map = burin.map, per = map.per;
	const from = Math.max(0, start - map.start), to = Math.min(map.end, end) - map.start;
	const first = Math.floor(from / per), last = Math.floor(to / per);

	if (to <= from)
		return;
	if (first === last) {
		sums.part[first * sums.classes + k] += to - from;
		return;
	}
	sums.part[first * sums.classes + k] += (first + 1) * per - from;
	sums.full[(first + 1) * sums.classes + k] += 1;
	sums.full[last * sums.classes + k] -= 1;
	sums.part[last * sums.classes + k] += to - last * per;
};

burin.newSums = function (classes) {
	const size = (burin.map.columns * burin.map.lines + 2) * classes;

	return { classes: classes, part: new Float64Array(size), full: new Float64Array(size) };
};

/* Bytes per class and cell. */
burin.finishSums = function (sums) {
	const map = burin.map, running = new Float64Array(sums.classes);

	for (let i = 0; i < sums.part.length; i++) {
		running[i % sums.classes] += sums.full[i];
		sums.part[i] += running[i % sums.classes] * map.per;
	}
	return sums.part;
};

burin.fillCells = function () {
	const map = burin.map, layer = burin.layers[map.layer], classes = layer.classes();
	const files = burin.newSums(classes.length), bad = burin.newSums(1), marked = burin.newSums(1);

	map.classes = classes;
	if (layer.fill)
		layer.fill(files);
	else
		burin.eachRun(map.start, map.end, function (start, end, file) {
			if (burin.shown[file])
				burin.addRange(files, layer.of(file), start, end);
		});
	for (const range of burin.unreadable)
		burin.addRange(bad, 0, range[0], range[0] + range[1]);
	if (map.file >= 0)
		for (const run of burin.file(map.file).runs)
			burin.addRange(marked, 0, run[0], run[0] + run[1]);
	map.cells = burin.finishSums(files);
	map.bad = burin.finishSums(bad);
	map.marked = burin.finishSums(marked);
};

/* ---- drawing ---- */

/* Canvases are sized in the screen's own pixels. */
burin.prepare = function (canvas, height) {
	const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");

	canvas.width = Math.round(canvas.clientWidth * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.height = height + "px";
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, canvas.clientWidth, height);
	return context;
};

burin.css = function (name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
};

/* The class that takes most of a cell, and how much of the cell is taken at all. */
burin.cellClass = function (cell) {
	const map = burin.map, count = map.classes.length;
	let best = -1, most = 0, sum = 0;

	for (let k = 0; k < count; k++) {
		const bytes = map.cells[cell * count + k];

		sum += bytes;
		if (bytes > most) {
			most = bytes;
			best = k;
		}
	}
	return { best: best, share: Math.min(1, sum / map.per) };
};

burin.drawCell = function (context, cell, colours) {
	const map = burin.map, size = map.pitch - 1;
	const x = cell % map.columns * map.pitch, y = Math.floor(cell / map.columns) * map.pitch;
	const found = burin.cellClass(cell);

	context.fillStyle = colours.empty;
	context.fillRect(x, y, size, size);
	if (found.best >= 0) {
		context.globalAlpha = map.bad[cell] > 0 ? 0.3 : 0.35 + 0.65 * found.share;
		context.fillStyle = map.classes[found.best][1];
		context.fillRect(x, y, size, size);
		context.globalAlpha = 1;
	}
	if (map.bad[cell] > 0) {
		context.strokeStyle = colours.bad;
		context.lineWidth = 2;
		context.beginPath();
		context.moveTo(x, y + size);
		context.lineTo(x + size, y);
		context.moveTo(x, y + size / 2);
		context.lineTo(x + size / 2, y);
		context.moveTo(x + size / 2, y + size);
		context.lineTo(x + size, y + size / 2);
		context.stroke();
	}
	if (map.marked[cell] > 0 || cell === map.cursor && document.activeElement === burin.id("map")) {
		context.strokeStyle = colours.text;
		context.lineWidth = 2;
		context.strokeRect(x, y, size, size);
	}
};

burin.drawMap = function () {
	const map = burin.map, canvas = burin.id("map");
	const context = burin.prepare(canvas, map.lines * map.pitch);
	const colours = { empty: burin.css("--cell"), bad: burin.css("--bad"), text: burin.css("--text") };
	const sector = burin.sectorSize();
	let count;

	map.columns = Math.max(8, Math.floor(canvas.clientWidth / map.pitch));
	map.per = Math.max(1, Math.ceil((map.end - map.start) / (map.columns * map.lines) / sector)) * sector;
	count = burin.cellCount();
	map.cursor = Math.max(0, Math.min(map.cursor, count - 1));
	burin.fillCells();
	for (let cell = 0; cell < count; cell++)
		burin.drawCell(context, cell, colours);
	burin.drawOverview();
	burin.drawLegend();
	burin.id("map-from").placeholder = Math.floor(map.start / sector);
	burin.id("map-to").placeholder = Math.ceil(map.end / sector) - 1;
	burin.describeCell(map.cursor);
};

/* A column of pixels for each part of the image, and a frame around what is in view. */
burin.drawOverview = function () {
	const canvas = burin.id("overview"), context = burin.prepare(canvas, 26), map = burin.map;
	const width = canvas.clientWidth, size = burin.run.image.size, taken = new Float64Array(width + 1);
	let x;

	if (!size || !width)
		return;
	burin.eachRun(0, size, function (start, end, file) {
		const first = Math.floor(start / size * width), last = Math.min(width, Math.ceil(end / size * width));

		if (burin.shown[file]) {
			taken[first] += 1;
			taken[last] -= 1;
		}
	});
	context.fillStyle = burin.css("--cell");
	context.fillRect(0, 4, width, 18);
	context.fillStyle = burin.palette[0];
	for (x = 0; x < width; x++) {
		if (x)
			taken[x] += taken[x - 1];
		if (taken[x] > 0)
			context.fillRect(x, 4, 1, 18);
	}
	context.fillStyle = burin.css("--bad");
	for (const range of burin.unreadable)
		context.fillRect(range[0] / size * width, 4, Math.max(1, range[1] / size * width), 18);
	context.strokeStyle = burin.css("--text");
	context.lineWidth = 2;
	x = map.start / size * width;
	context.strokeRect(Math.min(x + 1, width - 4), 1, Math.max(3, map.end / size * width - x - 2), 24);
};

burin.drawLegend = function () {
	const legend = burin.id("legend");
	const others = burin.map.classes.filter(function (entry) { return entry[1] === burin.otherColour; });
	const entries = burin.map.classes.filter(function (entry) { return entry[1] !== burin.otherColour; })
		.concat(others.length > 1 ? [[burin.count(others.length) + " other types", burin.otherColour]] : others)
		.concat(burin.unreadable.length ? [["unreadable", ""]] : []);

	legend.replaceChildren.apply(legend, entries.map(function (entry) {
		const dot = burin.make("i", { class: entry[1] ? "dot" : "dot stripes" });

		if (entry[1])
			dot.style.background = entry[1];
		return burin.make("span", {}, [dot, entry[0]]);
	}));
};

burin.drawVolumes = function () {
	const host = burin.id("volumes"), size = burin.run.image.size;

	for (const volume of burin.run.volumes || []) {
		const words = burin.volumeWords(volume);
		const box = burin.make("span", { title: burin.clean(words + (volume.note ? ": " + volume.note : "")) }, words);

		box.style.left = 100 * volume.offset / size + "%";
		box.style.width = 100 * volume.length / size + "%";
		host.append(box);
	}
	host.hidden = !host.children.length;
	burin.listVolumes();
};

/* The same as a table, with how many files start in each; they may overlap. */
burin.listVolumes = function () {
	const volumes = burin.run.volumes || [], starts = Float64Array.from(burin.rows.offset).sort();
	const before = function (offset) {
		return burin.search(starts.length, function (i) { return starts[i] >= offset; });
	};
	const rows = volumes.map(function (volume) {
		const end = volume.offset + volume.length;

		return [burin.count(volume.offset), burin.size(volume.length), volume.file_system || volume.description || "", volume.label || "",
			burin.count(before(end) - before(volume.offset)), volume.note || ""];
	});
	const line = function (cell, cells) {
		return burin.make("tr", {}, cells.map(function (text, i) { return burin.make(cell, { class: [0, 1, 4].includes(i) ? "number" : null }, text); }));
	};

	burin.id("volumes-box").hidden = !volumes.length;
	burin.id("volumes-table").replaceChildren(
		burin.make("thead", {}, line("th", ["Offset", "Size", "File system", "Label", "Files", "Note"])),
		burin.make("tbody", {}, rows.map(function (cells) { return line("td", cells); })));
};

/* ---- cells and words ---- */

burin.cellRange = function (cell) {
	const map = burin.map, start = map.start + cell * map.per;

	return [start, Math.min(start + map.per, map.end)];
};

/* Returns at most one more than max, so that the caller can see whether there are more. */
burin.filesIn = function (range, max) {
	const found = [];

	burin.eachRun(range[0], range[1], function (start, end, file) {
		if (burin.shown[file] && !found.includes(file))
			found.push(file);
		return found.length <= max;
	});
	return found;
};

burin.describeCell = function (cell) {
	const map = burin.map, range = burin.cellRange(cell), sector = burin.sectorSize();
	const files = burin.filesIn(range, 3), first = Math.floor(range[0] / sector);
	const last = Math.ceil(range[1] / sector) - 1;
	const content = burin.describeContent(range);
	const what = files.slice(0, 3).map(function (i) { return burin.rows.path[i]; }).join(", ") +
		(files.length > 3 ? " and more" : "");

	burin.id("map-says").textContent = (first === last ? "Sector " + burin.count(first)
		: "Sectors " + burin.count(first) + "–" + burin.count(last)) +
		" (offset " + burin.count(range[0]) + "): " + (what || "no file") +
		(map.bad[cell] > 0 ? "; unreadable" : "") + (content ? "; " + content : "") +
		". A cell is " + burin.size(map.per) + ".";
};

/* One file: shows its details. Several: shows them in the table. */
burin.openCell = function (cell) {
	const range = burin.cellRange(cell), files = burin.filesIn(range, 1);

	if (files.length === 1)
		burin.openFile(files[0]);
	if (files.length < 2)
		return;
	burin.showRange(range[0], range[1]);
	burin.openTab("table");
	burin.id("files").scrollIntoView();
};

/* ---- moving ---- */

burin.setMap = function (start, end) {
	const map = burin.map, size = burin.run.image.size, sector = burin.sectorSize();
	const least = Math.min(size, map.columns * sector);
	const span = Math.max(least, Math.min(size, end - start));

	map.start = Math.max(0, Math.min(Math.floor(start / sector) * sector, Math.floor((size - span) / sector) * sector));
	map.end = Math.min(size, map.start + Math.ceil(span / sector) * sector);
	burin.drawMap();
	burin.emit("map");
};

/* Keeps the cell in place, so that what is pointed at stays under the pointer. */
burin.zoomMap = function (factor, cell) {
	const map = burin.map, at = burin.cellRange(cell)[0], span = (map.end - map.start) * factor;
	const share = (at - map.start) / (map.end - map.start);

	burin.setMap(at - share * span, at - share * span + span);
	map.cursor = Math.floor((at - map.start) / map.per);
	burin.drawMap();
};

burin.moveMap = function (share) {
	const map = burin.map, by = (map.end - map.start) * share;

	burin.setMap(map.start + by, map.end + by);
};

burin.wholeMap = function () {
	burin.map.file = -1;
	burin.setMap(0, burin.run.image.size);
};

/* All extents of the file with some room around them. */
burin.mapShow = function (index) {
	const runs = burin.file(index).runs, offset = burin.rows.offset[index];
	const first = runs.reduce(function (least, run) { return Math.min(least, run[0]); }, offset);
	const end = runs.reduce(function (most, run) { return Math.max(most, run[0] + run[1]); }, offset);
	const room = Math.max(end - first, burin.sectorSize() * 32);

	burin.map.file = index;
	burin.setMap(first - room, end + room);
	burin.map.cursor = Math.floor((offset - burin.map.start) / burin.map.per);
	burin.drawMap();
	burin.id("map-section").scrollIntoView();
	burin.id("map").focus();
};
