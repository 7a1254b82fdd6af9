/* Pictures, of which only those in view are loaded, as the thumbnails that burin made. */
burin.thumb = function (index) {
	return burin.make("img", { src: burin.thumbAddress(index), alt: "", decoding: "async", class: "thumb" });
};

burin.makeTile = function () {
	return burin.make("div", { class: "tile", role: "option" }, [
		burin.make("div", { class: "frame" }),
		burin.make("label", {}, [burin.make("input", { type: "checkbox", tabindex: "-1" }), burin.make("span")])]);
};

burin.fillTile = function (tile, at) {
	const index = burin.gallery[at], frame = tile.firstChild, rows = burin.rows;
	const label = rows.path[index].split("/").pop() + ", " + burin.size(rows.length[index]);

	if (frame.dataset.index !== String(index)) {
		frame.dataset.index = index;
		frame.replaceChildren(rows.thumb[index] === 1 ? burin.thumb(index)
			: burin.make("span", { class: "quiet" }, "can't be shown"));
	}
	tile.lastChild.lastChild.textContent = label;
	tile.lastChild.firstChild.checked = burin.picked[index];
	tile.setAttribute("aria-label", rows.path[index] + ", " + burin.statuses[rows.status[index]]);
	tile.setAttribute("aria-selected", burin.picked[index] ? "true" : "false");
	tile.title = rows.path[index];
};

burin.describeGallery = function () {
	const reasons = [burin.made.no_pictures && "No thumbnails: " + burin.made.no_pictures,
		burin.made.no_films && "No thumbnails of films: " + burin.made.no_films].filter(Boolean);

	burin.id("gallery-says").textContent = burin.count(burin.gallery.length) +
		(burin.gallery.length === 1 ? " picture or film" : " pictures and films") +
		(reasons.length ? ". " + burin.clean(reasons.join(". ")) : "");
};

burin.startGallery = function () {
	const host = burin.id("p-gallery"), blur = burin.id("blur");
	const list = burin.list({ host: host, rowHeight: 176, label: "Pictures",
		columns: function () { return Math.max(1, Math.floor((host.clientWidth - 16) / 168)); },
		count: function () { return burin.gallery.length; }, make: burin.makeTile, fill: burin.fillTile,
		act: function (at, what) {
			if (what === "open")
				burin.openFile(burin.gallery[at]);
			else if (what === "pick")
				burin.toggle(burin.gallery[at]);
		} });
	const setBlur = function () { document.body.classList.toggle("blurred", blur.checked); };

	burin.lists.gallery = list;
	burin.gallery = [];
	list.area.addEventListener("click", function (event) {
		const tile = event.target.closest(".tile");

		if (!tile)
			return;
		list.show(+tile.dataset.index);
		if (event.target.closest("label")) {
			event.preventDefault();
			burin.toggle(burin.gallery[+tile.dataset.index]);
		} else {
			burin.openFile(burin.gallery[+tile.dataset.index]);
		}
	});
	blur.addEventListener("change", setBlur);
	setBlur();
	burin.on("view", function () {
		burin.gallery = Array.from(burin.view).filter(function (i) { return burin.rows.thumb[i] > 0; });
		list.area.scrollTop = 0;
		list.refresh();
		burin.describeGallery();
	});
	burin.on("picked", list.refresh);
};
