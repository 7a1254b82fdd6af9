/* Mouse, wheel, touch and keys on the map. A drag over cells zooms to them, a click opens one. */
burin.cellAt = function (event) {
	const map = burin.map, box = burin.id("map").getBoundingClientRect();
	const column = Math.floor((event.clientX - box.left) / map.pitch);
	const line = Math.floor((event.clientY - box.top) / map.pitch);
	const cell = line * map.columns + column;

	return column >= 0 && column < map.columns && line >= 0 && cell < burin.cellCount() ? cell : -1;
};

burin.mapKeys = function (event) {
	const map = burin.map, before = map.cursor;
	const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -map.columns, ArrowDown: map.columns };

	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key in moves) {
		map.cursor = Math.max(0, Math.min(burin.cellCount() - 1, before + moves[event.key]));
		if (map.cursor === before)
			burin.moveMap(moves[event.key] < 0 ? -0.5 : 0.5);
		burin.drawMap();
	} else if (event.key === "+" || event.key === "=") {
		burin.zoomMap(0.5, map.cursor);
	} else if (event.key === "-") {
		burin.zoomMap(2, map.cursor);
	} else if (event.key === "PageUp" || event.key === "PageDown") {
		burin.moveMap(event.key === "PageUp" ? -1 : 1);
	} else if (event.key === "Home") {
		burin.wholeMap();
	} else if (event.key === "Enter" || event.key === " ") {
		burin.openCell(map.cursor);
	} else {
		return;
	}
	event.preventDefault();
	event.stopPropagation();
};

burin.startPointer = function (canvas) {
	let pressed = -1;

	canvas.addEventListener("pointermove", function (event) {
		const cell = burin.cellAt(event);

		if (cell >= 0)
			burin.describeCell(cell);
	});
	canvas.addEventListener("pointerdown", function (event) { pressed = burin.cellAt(event); });
	canvas.addEventListener("pointerup", function (event) {
		const cell = burin.cellAt(event), from = Math.min(pressed, cell), to = Math.max(pressed, cell);

		pressed = -1;
		if (from < 0)
			return;
		burin.map.cursor = cell;
		if (from === to)
			burin.openCell(cell);
		else
			burin.setMap(burin.cellRange(from)[0], burin.cellRange(to)[1]);
	});
	canvas.addEventListener("wheel", function (event) {
		const cell = burin.cellAt(event);

		/* Without a key the wheel scrolls the page, as everywhere. */
		if (cell < 0 || !(event.ctrlKey || event.shiftKey || document.activeElement === canvas))
			return;
		event.preventDefault();
		burin.zoomMap(event.deltaY + event.deltaX < 0 ? 0.7 : 1 / 0.7, cell);
	}, { passive: false });
};

/* A click or drag on the strip brings that part of the image into view. */
burin.startOverview = function () {
	const strip = burin.id("overview");
	const go = function (event) {
		const map = burin.map, box = strip.getBoundingClientRect(), span = map.end - map.start;
		const at = (event.clientX - box.left) / box.width * burin.run.image.size;

		if (event.buttons)
			burin.setMap(at - span / 2, at + span / 2);
	};

	strip.addEventListener("pointerdown", go);
	strip.addEventListener("pointermove", go);
};

burin.goToSectors = function (event) {
	const sector = burin.sectorSize(), number = function (id) {
		return burin.id(id).value.replace(/[^0-9]/g, "");
	};
	const from = number("map-from"), to = number("map-to");

	event.preventDefault();
	burin.setMap(from ? from * sector : burin.map.start,
		to ? (+to + 1) * sector : from ? (+from + 1) * sector : burin.map.end);
};

burin.startMap = function () {
	const canvas = burin.id("map"), map = burin.map;
	const middle = function () { return Math.floor(burin.cellCount() / 2); };

	burin.unreadable = (burin.summary && burin.summary.unreadable) || [];
	map.end = burin.run.image.size;
	map.layer = "type";
	for (const name of Object.keys(burin.layers))
		if (name !== "space" || burin.rows.space.some(Boolean))
			burin.id("map-layer").append(burin.make("option", { value: name }, burin.layers[name].label));
	burin.id("map-layer").addEventListener("change", function (event) {
		map.layer = event.target.value;
		burin.drawMap();
	});
	burin.id("map-in").addEventListener("click", function () { burin.zoomMap(0.5, middle()); });
	burin.id("map-out").addEventListener("click", function () { burin.zoomMap(2, middle()); });
	burin.id("map-left").addEventListener("click", function () { burin.moveMap(-0.5); });
	burin.id("map-right").addEventListener("click", function () { burin.moveMap(0.5); });
	burin.id("map-whole").addEventListener("click", burin.wholeMap);
	burin.id("map-go").addEventListener("submit", burin.goToSectors);
	canvas.addEventListener("keydown", burin.mapKeys);
	canvas.addEventListener("focus", function () { burin.drawMap(); });
	canvas.addEventListener("blur", function () { burin.drawMap(); });
	burin.startPointer(canvas);
	burin.startOverview();
	burin.drawVolumes();
	burin.on("view", burin.drawMap);
	new ResizeObserver(function () { burin.drawMap(); }).observe(burin.id("volumes").parentElement);
};
