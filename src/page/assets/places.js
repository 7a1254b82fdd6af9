/* Where pictures were taken, by their EXIF data, on an outline of the world that is part of the page. A dot is a
 * square of half a degree; choosing it shows its pictures alone. */
burin.placeStep = 0.5;

/* The squares that have pictures of the view, with their files. */
burin.findPlaces = function () {
	const places = new Map();

	for (const [index, text] of burin.rows.pictures) {
		const place = burin.shown[index] ? burin.parsePlace(text) : null;
		const square = place && place.map(function (angle) { return Math.floor(angle / burin.placeStep); }).join(",");

		if (!place)
			continue;
		if (!places.has(square))
			places.set(square, { at: place, files: [] });
		places.get(square).files.push(index);
	}
	return Array.from(places.values()).sort(function (a, b) { return b.files.length - a.files.length; });
};

burin.svg = function (name, attributes, children) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", name);

	for (const key of Object.keys(attributes))
		element.setAttribute(key, attributes[key]);
	element.append.apply(element, children || []);
	return element;
};

/* The whole world, or what has places, never less than ten degrees: left, top, width, height. */
burin.placesBox = function (places, near) {
	const x = places.map(function (place) { return place.at[1]; }), y = places.map(function (place) { return -place.at[0]; });
	/* Too many to be arguments of one call. */
	const least = function (list) { return list.reduce(function (a, b) { return Math.min(a, b); }); };
	const most = function (list) { return list.reduce(function (a, b) { return Math.max(a, b); }); };
	let left, top, width;

	if (!near || !places.length)
		return [-180, -90, 360, 180];
	left = least(x);
	top = least(y);
	width = Math.min(360, 1.2 * Math.max(10, most(x) - left, 2 * (most(y) - top)));
	left = (left + most(x)) / 2 - width / 2;
	top = (top + most(y)) / 2 - width / 4;
	return [Math.max(-180, Math.min(180 - width, left)), Math.max(-90, Math.min(90 - width / 2, top)), width, width / 2];
};

burin.drawDot = function (place, radius) {
	const words = burin.files(place.files.length) + " at " + place.at.map(function (angle) { return angle.toFixed(1); }).join(", ");
	const dot = burin.svg("circle", { cx: place.at[1], cy: -place.at[0], r: radius * (1 + Math.log10(place.files.length)),
		tabindex: "0", role: "button", "aria-label": words }, [burin.svg("title", {}, [words])]);
	const choose = function () {
		burin.showOnly(place.files);
		burin.openTab("table");
	};

	dot.addEventListener("click", choose);
	dot.addEventListener("keydown", function (event) {
		if (event.key === "Enter" || event.key === " ")
			choose();
	});
	return dot;
};

burin.drawPlaces = function () {
	const places = burin.findPlaces(), near = burin.id("places-near").checked;
	const box = burin.placesBox(places, near);
	const most = places.slice(0, 5000); /* elements */
	const count = places.reduce(function (sum, place) { return sum + place.files.length; }, 0);

	burin.id("places-says").textContent = count
		? burin.count(count) + (count === 1 ? " picture names" : " pictures name") + " a place, of those with thumbnails. Choose a dot to see what was taken there."
		: "None of these pictures names a place, or none has a thumbnail.";
	burin.id("places-map").replaceChildren(burin.svg("svg", { viewBox: box.join(" "), role: "group", "aria-label": "Places on a map of the world" },
		[burin.svg("path", { d: burin.land, class: "land" })].concat(most.map(function (place) { return burin.drawDot(place, box[2] / 160); }))));
};

burin.startPlaces = function () {
	const draw = function () {
		if (!burin.id("p-places").hidden)
			burin.drawPlaces();
	};

	burin.lists.places = { refresh: draw };
	burin.id("places-near").addEventListener("change", draw);
	burin.on("view", draw);
};
