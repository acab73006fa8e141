// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of "t410trace report --html": plots, the selected row, tables that sort and filter.
// Bytes per nanosecond are GB/s. All texts go into the page as texts, never as HTML.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#d4a72c",
	"#e377a2", "#9c755f", "#6b6ecf", "#2ca2a2", "#c05020", "#3f8f3f", "#a03a5a", "#8458b3",
	"#5f9ea0"];
const REST = "#9aa8b5";
const REASONS = {
	device: ["unattributed: devices", "#7d7d7d"],
	remote: ["unattributed: other sockets", "#9d9d9d"],
	idle: ["unattributed: idle", "#bdbdbd"],
	other: ["unattributed: not followed", "#6a6a75"],
	lost: ["unattributed: not recorded", "#c0504d"],
	background: ["unattributed: background", "#adadad"],
};
const OWNED = ["devices, for workloads", "#5d6b78"];
// What the plots of sockets may be stacks of: of which series of rows, and what of sockets
const STACKS = {
	bytes: { series: ["read", "write", "readwrite"], label: "reads and writes",
		title: "memory bandwidth, GB/s", unit: "GB/s" },
	read: { series: ["read"], label: "reads", title: "memory reads, GB/s", unit: "GB/s" },
	write: { series: ["write"], label: "writes", title: "memory writes, GB/s", unit: "GB/s" },
	energy: { series: ["energy"], label: "power", title: "power, W", unit: "W" },
};
// Layers of a plot; workloads with less than this part of all are in "other workloads"
const MAX_LAYERS = 20;
const MIN_PART = 0.002;
const nr = data.begin_ns.length;
const plots = [];
const view = { from: null, to: null, row: null, filter: "", sort: null, stack: "bytes" };
let syncing = false;

// --- small things

function make(tag, parent, text, attributes) {
	const e = document.createElement(tag);
	if (text !== undefined)
		e.textContent = text;
	for (const [name, value] of Object.entries(attributes || {}))
		e.setAttribute(name, value);
	if (parent)
		parent.append(e);
	return e;
}

const digits = (v) => v >= 1000 ? v.toFixed(0) : v >= 100 ? v.toFixed(1) : v.toFixed(3);
const colour = (i) => PALETTE[i % PALETTE.length];

// Milliseconds of the day that is known, or since the begin
const at = (ns) => data.start_time_ms + ns / 1e6;
const xs = data.begin_ns.map(at).concat(nr ? [at(data.end_ns[nr - 1])] : []);
const toX = data.start_time_ms ? (ms) => new Date(ms) : (ms) => ms / 1000;
const fromX = data.start_time_ms ? (x) => +x : (x) => x * 1000;

function clock(ns) {
	if (!data.start_time_ms)
		return (ns / 1e9).toFixed(2) + " s";
	return new Date(at(ns)).toISOString().slice(11, 22);
}

function indexAt(ms) {
	let low = 0, high = nr - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (xs[middle] <= ms)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

// --- what rows moved

// Runs of a row become [value, low, high] by point; cpu: only values
function addRuns(runs, sums, cpu) {
	const step = cpu ? 1 : 3;
	for (const run of runs || [])
		for (let k = 1, i = run[0]; k < run.length; k += step, i++) {
			sums.value[i] += run[k];
			sums.low[i] += run[k] - (cpu ? 0 : run[k + 1]);
			sums.high[i] += run[k] + (cpu ? 0 : run[k + 2]);
		}
}

function emptySums() {
	const zeros = () => new Float64Array(nr);
	return { value: zeros(), low: zeros(), high: zeros() };
}

// Of what the plots are stacks of
const runsOf = (row, socket) => STACKS[view.stack].series
	.map((series) => (row.moved[series] || {})[socket]).filter((runs) => runs);

function sumsOf(rows, socket) {
	const sums = emptySums();
	for (const row of rows)
		for (const runs of runsOf(row, socket))
			addRuns(runs, sums, false);
	return sums;
}

const total = (sums) => sums.value.reduce((a, b) => a + b, 0);

// A layer: its numbers by point divided by the time that was counted
function rates(sums, counted) {
	return (i) => counted[i] ? {
		bytes: [sums.value[i], sums.low[i], sums.high[i]],
		value: sums.value[i] / counted[i],
		low: sums.low[i] / counted[i],
		high: sums.high[i] / counted[i],
	} : null;
}

// --- plots

// A plot has layers { label, colour, at(i) } and draws them stacked, as lines or with intervals.
function values(plot) {
	const bars = (v) => v ? [v.low, v.value, v.high] : [null, null, null];
	const number = plot.bars ? bars : (v) => v ? v.value : null;
	return xs.map((x, i) =>
		[toX(x)].concat(plot.layers.map((l) => number(l.at(Math.min(i, nr - 1))))));
}

function addPlot(id, title, layers, options) {
	const box = document.getElementById(id);
	if (!box || !layers.length || !nr)
		return;
	const plot = Object.assign({ layers, box, hover: null }, options);
	box.textContent = "";
	box.classList.toggle("low", !plot.stacked);
	make("h3", box, title);
	const graph = make("div", box, undefined, { class: "graph" });
	plot.readout = make("div", box, undefined, { class: "readout" });
	plot.g = new Dygraph(graph, values(plot), {
		labels: ["time"].concat(layers.map((l, i) => i + " " + l.label)),
		colors: layers.map((l) => l.colour),
		stackedGraph: !!plot.stacked, customBars: !!plot.bars, fillGraph: !!plot.stacked,
		fillAlpha: plot.stacked ? 0.85 : 0.3, strokeWidth: plot.stacked ? 0.5 : 1.5,
		stepPlot: true, includeZero: true, legend: "never", labelsUTC: true,
		highlightCircleSize: 0, gridLineColor: "rgba(128,128,128,0.25)",
		axisLineColor: "rgba(128,128,128,0.6)",
		axes: { x: axisX(), y: { axisLabelWidth: 52,
			axisLabelFormatter: (v) => +v.toPrecision(4) + "" } },
		dateWindow: view.from === null ? null : [+toX(view.from), +toX(view.to)],
		drawCallback: (g, first) => drawn(plot, g, first),
		clickCallback: () => {
			const row = plot.hover && plot.hover.layer && plot.hover.layer.row;
			if (row)
				select(row.key);
		},
	});
	plot.over = make("canvas", graph, undefined, { class: "over" });
	graph.addEventListener("mousemove", (e) => moved(plot, e), true);
	graph.addEventListener("mouseleave", () => hoverAll(null, null));
	plots.push(plot);
	say(plot);
	paint(plot);
}

function axisX() {
	return data.start_time_ms ? {} : { axisLabelFormatter: (v) => +v.toPrecision(5) + " s" };
}

// The layer at a height of the stack, or the nearest line
function layerAt(plot, i, y) {
	let best = null, least = Infinity, base = 0;
	for (let k = plot.layers.length - 1; k >= 0; k--) {
		const layer = plot.layers[k], v = layer.at(i);
		if (!v)
			continue;
		if (plot.stacked) {
			if (y >= base && y < base + v.value)
				return layer;
			base += v.value;
		} else if (Math.abs(v.value - y) < least) {
			least = Math.abs(v.value - y);
			best = layer;
		}
	}
	return best;
}

function moved(plot, e) {
	// While a button is down, dygraphs draws what is being chosen.
	if (e.buttons)
		return;
	e.stopPropagation();
	const [cx, cy] = plot.g.eventToDomCoords(e);
	const ms = fromX(plot.g.toDataXCoord(cx));
	if (ms < xs[0] || ms > xs[nr])
		return hoverAll(null, null);
	const i = indexAt(ms);
	hoverAll(i, plot, layerAt(plot, i, plot.g.toDataYCoord(cy)));
}

function hoverAll(i, plot, layer) {
	for (const p of plots) {
		p.hover = i === null ? null : { i, layer: p === plot ? layer : null };
		say(p);
		paint(p);
	}
}

// The band of a layer, from what lies below it in the stack; and the point below the pointer
function paint(plot) {
	if (!plot.over)
		return;
	const area = plot.g.getArea(), c = plot.over, scale = window.devicePixelRatio || 1;
	const width = c.parentNode.clientWidth, height = c.parentNode.clientHeight;
	c.width = width * scale;
	c.height = height * scale;
	c.style.width = width + "px";
	c.style.height = height + "px";
	const ctx = c.getContext("2d");
	ctx.scale(scale, scale);
	ctx.beginPath();
	ctx.rect(area.x, area.y, area.w, area.h);
	ctx.clip();
	const domX = (k) => plot.g.toDomXCoord(+toX(xs[k]));
	if (plot.hover) {
		ctx.fillStyle = "rgba(128,128,128,0.25)";
		const left = domX(plot.hover.i);
		ctx.fillRect(left, area.y, Math.max(1, domX(plot.hover.i + 1) - left), area.h);
	}
	if (!plot.stacked)
		return;
	for (const layer of plot.layers)
		if ((plot.hover && plot.hover.layer === layer) ||
		    (layer.row && layer.row.key === view.row))
			band(plot, layer, ctx, domX);
}

function band(plot, layer, ctx, domX) {
	const below = plot.layers.slice(plot.layers.indexOf(layer) + 1);
	for (let i = 0; i < nr; i++) {
		const v = layer.at(i);
		if (!v || !v.high)
			continue;
		const base = below.reduce((sum, l) => sum + l.at(i).value, 0);
		const x = domX(i), w = Math.max(1, domX(i + 1) - x);
		const y = (value) => plot.g.toDomYCoord(base + value);
		ctx.fillStyle = "rgba(128,128,128,0.35)";
		ctx.fillRect(x, y(v.high), w, y(v.low) - y(v.high));
		ctx.fillStyle = "rgba(0,0,0,0.9)";
		ctx.fillRect(x, y(v.value) - 1, w, 2);
		ctx.fillStyle = "rgba(255,255,255,0.9)";
		ctx.fillRect(x, y(v.low), w, 1);
		ctx.fillRect(x, y(v.high), w, 1);
	}
}

// --- what the pointer is at, in words

function sayLayer(box, plot, layer, v, here) {
	const line = make("span", box, undefined, here ? { class: "here" } : {});
	make("i", line, undefined, { class: "swatch", style: "background:" + layer.colour });
	line.append(layer.label);
	if (!v)
		return;
	line.append(" " + digits(v.value) + " " + plot.unit);
	if (v.high !== undefined && (v.low !== v.value || v.high !== v.value))
		line.append(" (" + digits(v.low) + " – " + digits(v.high) + ")");
	if (v.bytes)
		line.dataset.bytes = v.bytes.join(" ");
}

function say(plot) {
	const box = plot.readout, h = plot.hover;
	box.textContent = "";
	if (!h) {
		for (const layer of plot.layers.slice().reverse())
			sayLayer(box, plot, layer);
		return;
	}
	const joined = data.intervals[h.i] > 1 ? ", " + data.intervals[h.i] + " intervals" : "";
	const when = clock(data.begin_ns[h.i]) + " – " + clock(data.end_ns[h.i]);
	make("b", box, when + joined + ": ", { "data-point": h.i });
	const said = plot.layers.map((layer) => ({ layer, v: layer.at(h.i) })).filter((s) => s.v);
	if (!said.length)
		box.append("nothing was counted");
	if (plot.incomplete && plot.incomplete[h.i])
		box.append("some counters have no value ");
	said.sort((a, b) => (b.layer === h.layer) - (a.layer === h.layer) || b.v.value - a.v.value);
	for (const s of said)
		if (s.v.value || s.layer === h.layer)
			sayLayer(box, plot, s.layer, s.v, s.layer === h.layer);
}

// --- one view for all plots, kept in the address

function drawn(plot, g, first) {
	paint(plot);
	if (first || syncing)
		return;
	const [from, to] = g.xAxisRange(), end = g.xAxisExtremes();
	const whole = from <= end[0] && to >= end[1];
	zoom(whole ? null : fromX(from), whole ? null : fromX(to), plot);
}

function zoom(from, to, except) {
	if (from === view.from && to === view.to)
		return;
	view.from = from;
	view.to = to;
	syncing = true;
	for (const plot of plots)
		if (plot !== except)
			plot.g.updateOptions({ dateWindow: from === null ? null :
				[+toX(from), +toX(to)] });
	syncing = false;
	keep();
}

function keep() {
	const parts = new URLSearchParams();
	if (view.from !== null)
		parts.set("t", [view.from, view.to]
			.map((ms) => ((ms - xs[0]) / 1000).toFixed(3)).join("~"));
	if (view.row)
		parts.set("row", view.row);
	if (view.filter)
		parts.set("filter", view.filter);
	if (view.sort)
		parts.set("sort", view.sort);
	if (view.stack !== "bytes")
		parts.set("stack", view.stack);
	history.replaceState(null, "", "#" + parts);
}

function restore() {
	if (!location.hash.includes("="))
		return;
	const parts = new URLSearchParams(location.hash.slice(1));
	const t = (parts.get("t") || "").split("~").map((s) => xs[0] + parseFloat(s) * 1000);
	const sort = (parts.get("sort") || "").split(".");
	filter(parts.get("filter") || "");
	stack(parts.get("stack"));
	if (t.length === 2 && t[0] < t[1])
		zoom(t[0], t[1], null);
	else
		zoom(null, null, null);
	if (sort.length === 3 && document.getElementById(sort[0]))
		sortTable(document.getElementById(sort[0]), +sort[1], sort[2] === "down");
	select(parts.get("row"));
}

// --- the selected row

function removePlots(which) {
	for (let i = plots.length - 1; i >= 0; i--)
		if (which(plots[i])) {
			plots[i].g.destroy();
			plots[i].box.textContent = "";
			plots.splice(i, 1);
		}
}

// The stacks have the selected row as a layer, however little it moved.
function restack(before, after) {
	if (before === after)
		return;
	const has = (plot, key) => plot.layers.some((l) => l.row && l.row.key === key);
	const moves = (key, s) =>
		data.rows.some((r) => r.key === key && r.leaf !== false && runsOf(r, s).length);
	data.sockets.forEach((socket, s) => {
		const plot = plots.find((p) => p.stacked && p.socket === s);
		if (!plot || !(plot.extra || (moves(after, s) && !has(plot, after))))
			return;
		removePlots((p) => p === plot);
		drawSocket(socket, s);
	});
}

function select(key) {
	if (!document.getElementById("selected"))
		return;
	const row = data.rows.find((r) => r.key === key) || null;
	const box = document.getElementById("selected");
	const before = view.row;
	view.row = row ? row.key : null;
	removePlots((p) => p.selected);
	restack(before, view.row);
	box.hidden = !row;
	for (const tr of document.querySelectorAll("#workloads tr[data-row]"))
		tr.classList.toggle("selected", !!row && data.rows[tr.dataset.row] === row);
	if (row)
		showSelected(row, box);
	for (const plot of plots)
		paint(plot);
	keep();
}

function showSelected(row, box) {
	const title = box.querySelector("h3");
	title.textContent = "Selected: " + row.name +
		(row.cgroup && row.cgroup !== row.name ? ", " + row.cgroup : "");
	make("button", title, "Close", { type: "button" })
		.addEventListener("click", () => select(null));
	const hue = colour(Math.max(0, data.rows.indexOf(row)));
	const { title: what, unit } = STACKS[view.stack];
	data.sockets.forEach((socket, s) => {
		const count = socket.kinds[view.stack];
		if (count && runsOf(row, s).length)
			addPlot("plot-selected-" + s,
				"Socket " + socket.id + ": " + what + ", with its interval",
				[{ label: row.name, colour: hue,
					at: rates(sumsOf([row], s), count.counted_ns) }],
				{ unit, bars: true, selected: true });
	});
	if (row.cpu) {
		const cpu = emptySums();
		addRuns(row.cpu, cpu, true);
		addPlot("plot-selected-cpu", "CPUs used", [{ label: row.name, colour: hue,
			at: (i) => ({ value: cpu.value[i] / (data.end_ns[i] - data.begin_ns[i]) }),
		}], { unit: "CPUs", selected: true });
	}
	detail(row);
}

function cells(table, texts, head) {
	const tr = make("tr", table);
	texts.forEach((text, i) => make(head ? "th" : "td", tr, text, i ? { class: "n" } : {}));
}

function detail(row) {
	const box = document.getElementById("detail");
	box.textContent = "";
	const table = make("table", box);
	cells(table, ["Counter", "Value", "Low", "High", "Unit", ""], true);
	for (const [counter, value, low, high, separable] of row.shares)
		cells(table, [data.counters[counter], value, low, high, data.units[counter],
			separable ? "" : "not separable"]);
	for (const [probe, ns, bytes, all] of row.latencies || [])
		make("p", box, "Saw " + ns + " ns of latency " + data.latencies[probe] + ", with " +
			(all ? (100 * bytes / all).toFixed(0) : 0) + " % of its bytes.");
	if (row.tangled) {
		const find = (key) => data.rows.find((r) => r.key === key);
		const names = row.tangled.map((key) => (find(key) || { name: key }).name)
			.join(", ");
		const more = row.tangled_count - row.tangled.length;
		make("p", box, "The data cannot tell it from " + names +
			(more ? " and " + more + " more" : "") + ".");
	}
}

// --- tables

const cellValue = (cell) => parseFloat(cell.dataset.v || cell.textContent);

function sortTable(table, column, down) {
	const head = table.tHead.rows[0].cells, body = table.tBodies[0];
	if (!head[column])
		return;
	const number = head[column].classList.contains("n");
	const order = [...body.rows].map((tr) => {
		const cell = tr.cells[column], v = number ? cellValue(cell) : cell.textContent;
		return { tr, v: number && isNaN(v) ? -1 : v };
	});
	const compare = number ? (a, b) => a.v - b.v :
		(a, b) => a.v.localeCompare(b.v, "en", { numeric: true });
	order.sort((a, b) => down ? compare(b, a) : compare(a, b));
	body.append(...order.map((o) => o.tr));
	for (const th of head)
		th.removeAttribute("aria-sort");
	head[column].setAttribute("aria-sort", down ? "descending" : "ascending");
	// Out of their tree, rows need their whole names.
	for (const tr of body.querySelectorAll("tr[data-row]"))
		tr.querySelector("th span").textContent = data.rows[tr.dataset.row].name;
	table.classList.add("flat");
	view.sort = table.id + "." + column + "." + (down ? "down" : "up");
}

function sortable(table) {
	[...table.tHead.rows[0].cells].forEach((th, i) => {
		th.tabIndex = 0;
		const go = () => {
			const was = th.getAttribute("aria-sort");
			sortTable(table, i, was ? was === "ascending" : th.classList.contains("n"));
			keep();
		};
		th.addEventListener("click", go);
		th.addEventListener("keydown", (e) => e.key === "Enter" && go());
	});
}

const filterBox = make("p", null, undefined, { class: "filter" });
const filterInput = make("input", filterBox, undefined, { type: "search",
	placeholder: "Filter by name or cgroup", "aria-label": "Filter workloads" });
const filterCount = make("span", filterBox);

function filter(text) {
	if (!document.getElementById("workloads"))
		return;
	const rows = document.querySelectorAll("#workloads tbody tr");
	const wanted = text.toLowerCase();
	let shown = 0;
	for (const tr of rows) {
		const row = data.rows[tr.dataset.row];
		tr.hidden = !(row.name + " " + row.cgroup).toLowerCase().includes(wanted);
		shown += !tr.hidden;
	}
	view.filter = text;
	filterInput.value = text;
	filterCount.textContent = shown + " of " + rows.length;
}

function foldable(table) {
	const rows = [...table.tBodies[0].rows], depth = (tr) => +tr.dataset.depth;
	rows.forEach((tr, i) => {
		if (!rows[i + 1] || depth(rows[i + 1]) <= depth(tr))
			return;
		tr.cells[0].classList.add("fold");
		tr.cells[0].addEventListener("click", () => {
			if (table.classList.contains("flat"))
				return;
			const close = tr.cells[0].classList.toggle("closed");
			for (let k = i + 1; rows[k] && depth(rows[k]) > depth(tr); k++) {
				rows[k].hidden = close;
				rows[k].cells[0].classList.remove("closed");
			}
		});
	});
}

function prepareTables() {
	const workloads = document.getElementById("workloads");
	const tree = document.getElementById("cgroups");
	document.querySelectorAll("main table").forEach(sortable);
	if (!workloads)
		return;
	workloads.parentNode.before(filterBox);
	filterInput.addEventListener("input", () => { filter(filterInput.value); keep(); });
	for (const tr of workloads.querySelectorAll("tbody tr")) {
		const row = data.rows[tr.dataset.row];
		tr.tabIndex = 0;
		tr.addEventListener("click", () => select(view.row === row.key ? null : row.key));
		tr.addEventListener("keydown", (e) => e.key === "Enter" && select(row.key));
		if (row.leaf !== false)
			tr.cells[0].prepend(make("i", null, undefined, { class: "swatch",
				style: "background:" + colour(+tr.dataset.row) }));
	}
	if (tree)
		foldable(tree);
	filter("");
}

// --- the plots of the page

function socketLayers(count, s) {
	const counted = count.counted_ns, layers = [];
	const any = (array) => array.some((v) => v);
	const fixed = (array) => (i) => counted[i] ?
		{ bytes: [array[i]], value: array[i] / counted[i] } : null;
	for (const [reason, [label, hue]] of Object.entries(REASONS))
		if (any(count.unattributed[reason]))
			layers.push({ label, colour: hue, at: fixed(count.unattributed[reason]) });
	if (any(count.owned))
		layers.push({ label: OWNED[0], colour: OWNED[1], at: fixed(count.owned) });
	const least = MIN_PART * count.value.reduce((a, b) => a + b, 0);
	const rows = data.rows.filter((row) => row.leaf !== false && runsOf(row, s).length)
		.map((row) => ({ row, sums: sumsOf([row], s) }));
	rows.sort((a, b) => total(b.sums) - total(a.sums));
	const large = rows.slice(0, MAX_LAYERS).filter((r) => total(r.sums) > least);
	const extra = rows.slice(large.length).filter((r) => r.row.key === view.row);
	const own = large.concat(extra);
	const rest = rows.filter((r) => !own.includes(r)).map((r) => r.row).concat([data.others]);
	const others = sumsOf(rest, s);
	limit(others, count);
	if (any(others.high))
		layers.push({ label: "other workloads", colour: REST, at: rates(others, counted) });
	for (const { row, sums } of own.reverse())
		layers.push({ label: row.name, row, colour: colour(data.rows.indexOf(row)),
			at: rates(sums, counted) });
	return { layers, extra: extra.length > 0 };
}

// All rows together moved what was attributed: some of them cannot have moved more.
function limit(sums, count) {
	const rest = Object.values(count.unattributed).concat([count.owned]);
	for (let i = 0; i < nr; i++) {
		const attributed = rest.reduce((left, array) => left - (array[i] || 0),
			count.value[i] || 0);
		sums.high[i] = Math.max(sums.value[i], Math.min(sums.high[i], attributed));
	}
}

function drawSocket(socket, s) {
	const { label, title, unit } = STACKS[view.stack], count = socket.kinds[view.stack];
	const box = document.getElementById("plot-socket-" + s);
	if (!count) {
		make("p", box, "Socket " + socket.id + ": no counter of " + label + " had a value.");
		return;
	}
	const { layers, extra } = socketLayers(count, s);
	addPlot(box.id, "Socket " + socket.id + ": " + title, layers,
		{ stacked: true, unit, incomplete: count.incomplete, socket: s, extra });
}

// --- what the plots of sockets are stacks of

const stackBox = make("p", null, "Stacks of ", { class: "stack", role: "radiogroup",
	"aria-label": "What plots of sockets show" });

function prepareStacks() {
	const counted = Object.keys(STACKS).filter((kind) =>
		data.sockets.some((socket) => socket.kinds[kind]));
	if (counted.length < 2)
		return;
	for (const kind of counted) {
		const label = make("label", stackBox);
		const input = make("input", label, undefined,
			{ type: "radio", name: "stack", value: kind });
		input.checked = kind === view.stack;
		label.append(STACKS[kind].label);
		input.addEventListener("change", () => { stack(kind); keep(); });
	}
	document.getElementById("plot-socket-0").before(stackBox);
}

// Another kind, for the selected row as well
function stack(wanted) {
	const input = [...stackBox.querySelectorAll("input")].find((i) => i.value === wanted);
	const kind = input ? wanted : "bytes";
	if (kind === view.stack)
		return;
	view.stack = kind;
	for (const i of stackBox.querySelectorAll("input"))
		i.checked = i.value === kind;
	removePlots((p) => p.stacked);
	data.sockets.forEach((socket, s) => {
		document.getElementById("plot-socket-" + s).textContent = "";
		drawSocket(socket, s);
	});
	select(view.row);
}

function busy(socket, i) {
	const used = socket.busy_ns[i] + socket.lost_ns[i], whole = used + socket.idle_ns[i];
	// Traces of other tools leave idle time out.
	const all = socket.idle_ns[i] ? whole :
		Math.max(whole, socket.cpus * (data.end_ns[i] - data.begin_ns[i]));
	return all ? { value: 100 * used / all } : null;
}

function drawAll() {
	data.sockets.forEach(drawSocket);
	addPlot("plot-devices", "Devices: read and written, GB/s, with intervals",
		data.devices.slice(0, MAX_LAYERS).map((d, i) => ({
			label: d.bdf + " " + (d.name || d.kind), colour: colour(i),
			at: rates(d, d.counted_ns),
		})), { unit: "GB/s", bars: true });
	addPlot("plot-latencies", "Latencies, ns", data.probes.map((p, i) => ({
		label: p.name, colour: colour(i),
		at: (k) => p.ns[k] === null ? null : { value: p.ns[k] },
	})), { unit: "ns" });
	for (const p of data.plots)
		addPlot(p.id, p.title, p.layers.map((layer, i) => ({
			label: layer.label, colour: layer.colour || colour(i),
			at: rates(Object.assign({ low: layer.value, high: layer.value }, layer),
				layer.counted_ns),
		})), { unit: p.unit, bars: true, incomplete: p.incomplete });
	addPlot("plot-cpu", "CPUs busy, %", data.sockets.map((socket, i) => ({
		label: "socket " + socket.id, colour: colour(i), at: (k) => busy(socket, k),
	})), { unit: "%" });
}

document.documentElement.classList.add("js");
prepareTables();
prepareStacks();
drawAll();
restore();
window.addEventListener("hashchange", restore);
window.addEventListener("keydown", (e) => e.key === "Escape" && view.row && select(null));
})();
