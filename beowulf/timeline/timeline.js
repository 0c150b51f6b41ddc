"use strict";
(async () => {
  const byId = (id) => document.getElementById(id);
  const run = JSON.parse(byId("data").textContent);
  const LINES = 1000, LABELS = 120, PACKETS = 1500, ROWS = 200, WIDEST = 2048;

  // Columns of whole numbers: deflated planes of bytes, the lowest of all rows first.
  async function unpack(part) {
    if (!part) return null;
    const raw = Uint8Array.from(atob(part.data), (c) => c.charCodeAt(0));
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const out = {rows: part.rows}, n = part.rows;
    let at = 0;
    for (const [name, width] of part.columns) {
      if (width === 4) {
        const to = new Int32Array(n);
        for (let i = 0; i < n; i++)
          to[i] = bytes[at + i] | bytes[at + n + i] << 8 | bytes[at + 2 * n + i] << 16 | bytes[at + 3 * n + i] << 24;
        out[name] = to;
      } else {
        const to = new Float64Array(n);
        for (let i = 0; i < n; i++) {
          let high = 0, low = 0;
          for (let k = 7; k >= 4; k--) high = high * 256 + bytes[at + k * n + i];
          for (let k = 3; k >= 0; k--) low = low * 256 + bytes[at + k * n + i];
          to[i] = (high | 0) * 4294967296 + low;
        }
        out[name] = to;
      }
      at += width * n;
    }
    return out;
  }
  function summed(deltas) {
    const out = new Float64Array(deltas.length);
    let sum = 0;
    for (let i = 0; i < out.length; i++) out[i] = sum += deltas[i];
    return out;
  }
  const [bars, waits, messages, marks, path, packets] = await Promise.all(
    ["bars", "waits", "messages", "marks", "path", "packets"].map((name) => unpack(run[name])));
  bars.began = summed(bars.began);
  bars.rank = Int32Array.from(summed(bars.rank));
  messages.send = Int32Array.from(summed(messages.send));
  if (packets) packets.at = summed(packets.at);

  // Where each rank's bars and waits begin, and the time spent by category up to each bar: levels of detail.
  const all = run.ranks.map((r) => r[0]), place = new Map(all.map((r, i) => [r, i]));
  const first = new Int32Array(all.length + 1).fill(bars.rows);
  for (let i = bars.rows - 1; i >= 0; i--) first[place.get(bars.rank[i])] = i;
  for (let k = all.length - 1; k >= 0; k--) first[k] = Math.min(first[k], first[k + 1]);
  const kinds = run.categories.length;
  const before = Array.from({length: kinds - 1}, () => new Float64Array(bars.rows + 1));
  for (let i = 0; i < bars.rows; i++) {
    for (let c = 0; c < kinds - 1; c++) before[c][i + 1] = before[c][i];
    before[bars.category[i] - 1][i + 1] += bars.length[i];
  }
  const ofRank = all.map(() => []);
  for (let i = 0; i < waits.rows; i++) ofRank[place.get(waits.rank[i])].push(i);
  for (const list of ofRank) list.sort((a, b) => waits.since[a] - waits.since[b]);
  const inTime = Int32Array.from({length: waits.rows}, (_, i) => i).sort((a, b) => waits.since[a] - waits.since[b]);
  const late = new Map();
  for (let i = 0; i < waits.rows; i++) if (waits.message[i] >= 0) late.set(waits.message[i], i);
  const ofBar = new Map();
  for (let i = waits.rows - 1; i >= 0; i--) ofBar.set(waits.bar[i], i);

  // When and between which ranks messages went, so that no frame has to look it up.
  const sentAt = new Float64Array(messages.rows), gotAt = new Float64Array(messages.rows);
  const source = new Int32Array(messages.rows), target = new Int32Array(messages.rows);
  for (let i = 0; i < messages.rows; i++) {
    const s = messages.send[i], r = messages.received[i];
    sentAt[i] = bars.began[s]; gotAt[i] = bars.began[r] + bars.length[r];
    source[i] = place.get(bars.rank[s]); target[i] = place.get(bars.rank[r]);
  }

  // The last bar of rank k that began at t or before; first[k] - 1 where there is none.
  function lastBar(k, t, low = first[k]) {
    let high = first[k + 1];
    while (low < high) { const m = (low + high) >> 1; if (bars.began[m] <= t) low = m + 1; else high = m; }
    return low - 1;
  }
  function shares(k, from, to) { // ns by category
    const out = new Array(kinds).fill(0), a = lastBar(k, from), b = lastBar(k, to);
    let calls = 0;
    for (let c = 0; c < kinds - 1; c++) out[c + 1] = before[c][b + 1] - before[c][a + 1];
    if (a >= first[k]) out[bars.category[a]] += Math.max(0, bars.began[a] + bars.length[a] - from);
    if (b >= first[k]) out[bars.category[b]] -= Math.max(0, bars.began[b] + bars.length[b] - to);
    for (let c = 1; c < kinds; c++) calls += out[c];
    out[0] = Math.max(0, Math.min(to, run.ranks[k][3]) - Math.max(from, run.ranks[k][2]) - calls);
    return out;
  }
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const fills = run.fills.map(rgb), waitFills = run.wait_fills.map(rgb);
  const pixel = (r, g, b) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;

  const item = run.figures[0];
  item.target_id = "plots";
  await Bokeh.embed.embed_item(item, "plots");
  const doc = Bokeh.documents[Bokeh.documents.length - 1];
  const model = (name) => doc.get_model_by_name(name);
  const plot = model("ranks"), wire = model("wire"), range = plot.x_range;
  const views = Object.values(Bokeh.index)[0] ?? Bokeh.index.roots?.[0];
  const viewOf = (m) => Bokeh.index.find_one ? Bokeh.index.find_one(m) : null;
  const Pixels = model("image of ranks").data.image[0].constructor;
  let shown = run.chosen ? run.chosen.map((r) => place.get(r)) : all.map((_, k) => k);
  let rank = 0, wait = -1, frames = 0;

  const total = (out) => out.reduce((a, b) => a + b, 0);
  function image(order, from, to, width) {
    const tall = order.length > 30 ? 6 : 12, cut = tall === 6 ? 2 : 4;
    const cells = new Uint32Array(width * order.length * tall), step = (to - from) / width;
    const acc = new Float32Array(width), last = new Int16Array(width);
    order.forEach((k, row) => {
      const line = new Uint32Array(width), top = row * tall * width;
      let a = lastBar(k, from), high;
      const b0 = run.ranks[k][2], b1 = run.ranks[k][3];
      for (let x = 0; x < width; x++) {
        const t0 = from + x * step, t1 = t0 + step;
        let b = a;
        const limit = first[k + 1] - 1;
        if (b < limit && bars.began[b + 1] <= t1) {
          let jump = 1;
          while (b + jump <= limit && bars.began[b + jump] <= t1) jump *= 2;
          let low = b + (jump >> 1); high = Math.min(limit, b + jump);
          while (low < high) { const m = (low + high + 1) >> 1; if (bars.began[m] <= t1) low = m; else high = m - 1; }
          b = low;
        }
        const inside = Math.min(t1, b1) - Math.max(t0, b0);
        if (inside > 0) {
          let r = 0, g = 0, bl = 0, sum = 0;
          for (let c = 1; c < kinds; c++) {
            let ns = before[c - 1][b + 1] - before[c - 1][a + 1];
            if (a >= first[k] && bars.category[a] === c) ns += Math.max(0, bars.began[a] + bars.length[a] - t0);
            if (b >= first[k] && bars.category[b] === c) ns -= Math.max(0, bars.began[b] + bars.length[b] - t1);
            if (ns > 0) { const f = fills[c]; r += f[0] * ns; g += f[1] * ns; bl += f[2] * ns; sum += ns; }
          }
          const rest = Math.max(0, inside - sum), f = fills[0], n = rest + sum || 1;
          line[x] = pixel((r + f[0] * rest) / n, (g + f[1] * rest) / n, (bl + f[2] * rest) / n);
        }
        a = b;
      }
      for (let y = 1; y < tall - 1; y++) cells.set(line, top + y * width);
      acc.fill(0);
      const strip = line.slice();
      for (const w of ofRank[k]) {
        const s = waits.since[w], e = s + waits.length[w];
        if (e < from) continue;
        if (s > to) break;
        const p = Math.max(0, Math.floor((s - from) / step)), q = Math.min(width - 1, Math.floor((e - from) / step));
        for (let x = p; x <= q; x++) {
          acc[x] += Math.min(e, from + (x + 1) * step) - Math.max(s, from + x * step);
          last[x] = waits.kind[w];
        }
      }
      for (let x = 0; x < width; x++) if (acc[x] > 0.3 * step) strip[x] = pixel(...waitFills[last[x]]);
      for (let y = 1; y <= cut; y++) cells.set(strip, top + y * width);
    });
    return new Pixels(cells.buffer, [order.length * tall, width], "uint32");
  }
  function put(name, columns) { const m = model(name); if (m) m.data = columns; }
  const empty = () => ({x0: [], y0: [], x1: [], y1: [], colour: [], width: []});
  function line(to, x0, y0, x1, y1, colour, width) {
    to.x0.push(x0 / 1e6); to.y0.push(y0); to.x1.push(x1 / 1e6); to.y1.push(y1); to.colour.push(colour); to.width.push(width);
  }
  function sourceWidth() {
    const view = viewOf(plot);
    return Math.max(200, Math.min(WIDEST, Math.round(view?.frame?.bbox?.width ?? byId("plots").clientWidth - 90)));
  }
  function draw() {
    const from = range.start * 1e6, to = range.end * 1e6, row = new Map(shown.map((k, i) => [k, i]));
    const width = sourceWidth();
    put("image of ranks", {image: [image(shown, from, to, width)], x: [range.start], y: [0],
      dw: [range.end - range.start], dh: [shown.length]});
    const lines = empty(), seen = [];
    if (byId("lines").checked) {
      let m = 0;
      const on = new Uint8Array(all.length);
      for (const k of shown) on[k] = 1;
      for (let i = 0; i < messages.rows; i++)
        if (sentAt[i] <= to && gotAt[i] >= from && on[source[i]] && on[target[i]]) { m++; seen.push(i); }
      let kept = seen;
      if (m > LINES) {
        const step = Math.ceil(m / LINES);
        kept = seen.filter((i, n) => n % step === 0);
      }
      for (const i of kept) {
        const s = messages.send[i], r = messages.received[i], w = late.has(i);
        line(lines, bars.began[s], row.get(place.get(bars.rank[s])) + 0.5, bars.began[r] + bars.length[r],
          row.get(place.get(bars.rank[r])) + 0.5, "#222222", w ? 2 : 0.8);
      }
      byId("counts").textContent = `${kept.length.toLocaleString("en")} of ${m.toLocaleString("en")} messages shown`;
    } else byId("counts").textContent = "";
    put("messages", lines);
    const chain = empty();
    let steps = 0;
    if (byId("chain").checked)
      for (let i = 0; i < path.rows && steps < LINES; i++) {
        const y = row.get(place.get(path.rank[i]));
        if (path.ended[i] < from || path.began[i] > to || y === undefined) continue;
        const s = row.get(place.get(path.source[i])), y0 = s === undefined ? y : s;
        line(chain, path.began[i], y0 + 0.94, path.ended[i], y + 0.94, "#C2185B", 3);
        steps++;
      }
    put("path", chain);
    const flags = empty();
    for (let i = 0; i < marks.rows && flags.x0.length < 500; i++) {
      const y = row.get(place.get(marks.rank[i]));
      if (y !== undefined && marks.at[i] >= from && marks.at[i] <= to)
        line(flags, marks.at[i], y, marks.at[i], y + 1, "#000000", 2);
    }
    put("marks", flags);
    const labels = {x: [], y: [], text: []}, step = (to - from) / width;
    if (shown.length <= 30)
      for (const k of shown)
        for (let i = Math.max(first[k], lastBar(k, from)), n = 0; i < first[k + 1] && bars.began[i] < to && n < 4000; i++, n++) {
          const a = Math.max(bars.began[i], from), b = Math.min(bars.began[i] + bars.length[i], to);
          const name = run.calls[bars.call[i]];
          if ((b - a) / step > name.length * 7 && labels.x.length < LABELS) {
            labels.x.push(a / 1e6 + 4 * step / 1e6); labels.y.push(row.get(k) + 0.66); labels.text.push(name);
          }
        }
    put("labels", labels);
    if (packets) {
      const out = empty(), low = edge(packets.at, from), high = edge(packets.at, to), m = high - low;
      const skip = Math.max(1, Math.ceil(m / PACKETS)), texts = [];
      let n = 0;
      for (let i = low; i < high; i += skip, n++) {
        const c = packets.message[i];
        line(out, packets.at[i], packets.source[i], packets.at[i], packets.to[i],
          c < 0 ? "#888888" : run.colours[c % run.colours.length], 1.2);
        texts.push(`packet ${packets.number[i]}: ${run.packet_kinds[packets.kind[i]]}, ${packets.bytes[i]} bytes, ` +
          `${run.nodes[packets.source[i]]} to ${run.nodes[packets.to[i]]}, ${ms(packets.at[i])} ms` +
          (c < 0 ? "" : `, of the message that rank ${bars.rank[messages.send[c]]} sent`));
      }
      put("packets", out);
      const marker = out.y1.map((y, i) => y > out.y0[i] ? "inverted_triangle" : "triangle");
      put("heads", {x1: out.x1, y1: out.y1, colour: out.colour, text: texts, marker});
      byId("counts").textContent += ` · ${n.toLocaleString("en")} of ${m.toLocaleString("en")} packets shown`;
    }
    byId("from").value = range.start.toFixed(6); byId("to").value = range.end.toFixed(6);
    frames++;
  }
  function edge(times, t) {
    let low = 0, high = times.length;
    while (low < high) { const m = (low + high) >> 1; if (times[m] < t) low = m + 1; else high = m; }
    return low;
  }
  let asked = false;
  function ask() { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); } }
  range.change.connect(ask);
  if (window.ResizeObserver) new ResizeObserver(ask).observe(byId("plots"));

  const bound = (a, b) => {
    const end = run.length / 1e6, span = Math.max(1e-5, Math.min(b - a, end * 1.1));
    const start = Math.max(-0.05 * end, Math.min(a, 1.05 * end - span));
    range.setv({start, end: start + span});
  };
  const ms = (ns) => (ns / 1e6).toFixed(6).replace(/0{1,3}$/, "");
  function describe(i) {
    const w = ofBar.get(i), k = bars.rank[i], lines = [`${run.calls[bars.call[i]]} of rank ${k}, ${run.categories[bars.category[i]]}`];
    if (bars.partner[i] >= 0) lines.push(`${bars.category[i] === 4 ? "root" : "partner"}: rank ${bars.partner[i]}, tag ${bars.tag[i]}`);
    // Of a call that waits for requests, the recorder counts these.
    const unit = bars.category[i] === 3 && bars.partner[i] < 0 ? "requests" : "bytes";
    // Of a simulated collective call, or a wait for several messages, the size is not known.
    if (bars.bytes[i] || bars.category[i] < 3) lines.push(`${bars.bytes[i].toLocaleString("en")} ${unit}${bars.request[i] ? `, request ${bars.request[i] >>> 0}` : ""}`);
    lines.push(`from ${ms(bars.began[i])} ms, ${ms(bars.length[i])} ms long`);
    if (w !== undefined) lines.push(reason(w));
    return lines.join("\n");
  }
  const lasts = (w) => (run.kinds[waits.kind[w]] === "never ended" ? "> " : "") + (waits.length[w] / 1e6).toFixed(3);
  function reason(w) {
    const m = waits.message[w];
    const what = m >= 0 ? ` (its message of ${messages.bytes[m].toLocaleString("en")} bytes, tag ${messages.tag[m]})` : "";
    return `waits ${lasts(w)} ms: ${run.kinds[waits.kind[w]]}` +
      (waits.cause[w] < 0 ? "" : `, for ${waits.cause[w] === waits.rank[w] ? "itself" : `rank ${waits.cause[w]}`}${what}`);
  }
  function select(k, from, to, text) {
    const y = shown.indexOf(k), box = empty();
    if (y >= 0) {
      line(box, from, y + 0.04, to, y + 0.04, "#000000", 2); line(box, from, y + 0.9, to, y + 0.9, "#000000", 2);
      line(box, from, y + 0.04, from, y + 0.9, "#000000", 2); line(box, to, y + 0.04, to, y + 0.9, "#000000", 2);
    }
    put("selected", box);
    byId("live").textContent = text;
  }
  function go(w) {
    if (w < 0 || w >= waits.rows) return;
    wait = w;
    const k = place.get(waits.rank[w]), s = waits.since[w], l = Math.max(waits.length[w], 10);
    if (!shown.includes(k)) { shown = all.map((_, i) => i); rows(); }
    rank = shown.indexOf(k);
    bound((s - l) / 1e6, (s + 2 * l) / 1e6);
    const i = waits.bar[w];
    select(k, s, s + l, ofBar.get(i) === w ? describe(i) : `${reason(w)}\n${describe(i)}`);
  }
  function step(by) {
    const middle = wait >= 0 ? inTime.indexOf(wait) : by > 0 ? -1 : waits.rows;
    go(inTime[Math.max(0, Math.min(waits.rows - 1, middle + by))] ?? -1);
  }
  function details() {
    const t = (range.start + range.end) * 5e5, k = shown[rank], i = lastBar(k, t);
    const on = i >= first[k] && bars.began[i] + bars.length[i] >= t;
    const from = on ? bars.began[i] : i >= first[k] ? bars.began[i] + bars.length[i] : run.ranks[k][2];
    const to = on ? from + bars.length[i] : i + 1 < first[k + 1] ? bars.began[i + 1] : run.ranks[k][3];
    select(k, from, to, on ? describe(i) : `rank ${all[k]} computes from ${ms(from)} ms, ${ms(to - from)} ms long`);
  }
  function rows() {
    plot.y_range.setv({start: shown.length, end: 0});
    const every = Math.max(1, Math.ceil(shown.length / 50)), ticks = [], names = new Map();
    shown.forEach((k, i) => { if (i % every === 0) { ticks.push(i + 0.5); names.set(i + 0.5, `${all[k]}`); } });
    const axis = plot.left[0];
    axis.ticker.ticks = ticks;
    axis.major_label_overrides = names;
    ask();
  }
  const zoom = (by, at = (range.start + range.end) / 2) => bound(at - (at - range.start) * by, at + (range.end - at) * by);
  const move = (by) => { const d = (range.end - range.start) * by; bound(range.start + d, range.end + d); };
  const whole = () => bound(0, run.length / 1e6);
  const keys = {ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5),
    "-": () => zoom(2), Home: whole, n: () => step(1), p: () => step(-1), l: () => go(0),
    ArrowUp: () => { rank = Math.max(0, rank - 1); details(); },
    ArrowDown: () => { rank = Math.min(shown.length - 1, rank + 1); details(); }, Enter: details};
  byId("view").addEventListener("keydown", (event) => {
    const key = keys[event.key];
    if (key && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); event.stopPropagation(); key(); }
  }, true);
  byId("longest").onclick = () => go(0); byId("next").onclick = () => step(1); byId("before").onclick = () => step(-1);
  byId("whole").onclick = whole; byId("lines").onchange = ask; byId("chain").onchange = ask;
  byId("show").onclick = () => {
    const found = new Set();
    for (const part of byId("ranks").value.split(",")) {
      const m = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(part);
      if (m) for (const r of all) if (r >= +m[1] && r <= +(m[2] ?? m[1])) found.add(place.get(r));
    }
    shown = found.size ? [...found].sort((a, b) => a - b) : all.map((_, k) => k);
    rank = 0;
    rows();
    const a = parseFloat(byId("from").value), b = parseFloat(byId("to").value);
    if (b > a) bound(a, b);
  };
  function at(x, y) { // what is at a point of the window: text, or nothing
    const view = viewOf(plot);
    if (!view) return "";
    const box = view.canvas_view?.el.getBoundingClientRect() ?? view.el.getBoundingClientRect();
    const t = view.frame.x_scale.invert(x - box.left) * 1e6, k = shown[Math.floor(view.frame.y_scale.invert(y - box.top))];
    if (k === undefined || t < range.start * 1e6 || t > range.end * 1e6) return "";
    const near = 4 * (range.end - range.start) * 1e6 / sourceWidth();
    for (let i = 0; i < marks.rows; i++)
      if (marks.rank[i] === all[k] && Math.abs(marks.at[i] - t) < near)
        return `mark ${run.names[all[k]]?.[marks.name[i] - 1] ?? ""}${{10: " begins", 11: " ends"}[marks.level[i]] ?? ""}`;
    const i = lastBar(k, t);
    if (i >= first[k] && bars.began[i] + bars.length[i] >= t) return describe(i);
    return t >= run.ranks[k][2] && t <= run.ranks[k][3] ? `rank ${all[k]} computes` : "";
  }
  byId("plots").addEventListener("pointermove", (event) => {
    const text = at(event.clientX, event.clientY), tip = byId("tip");
    tip.hidden = !text;
    tip.textContent = text;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 300)}px`; tip.style.top = `${event.clientY + 14}px`;
  });
  byId("plots").addEventListener("pointerleave", () => { byId("tip").hidden = true; });

  function legend(colour, text) {
    const span = document.createElement("span"), box = document.createElement("i");
    box.style.background = colour;
    span.append(box, text);
    byId("legend").append(span);
  }
  run.categories.forEach((name, i) => legend(run.fills[i], name));
  run.kinds.forEach((name, i) => legend(run.wait_fills[i], `waits: ${name}`));
  legend("#C2185B", "critical path"); legend("#222222", "message; thick: it was waited for");
  if (packets) legend("#888888", "packet: each message has its colour, grey has none");
  const body = byId("waits").tBodies[0];
  for (let w = 0; w < Math.min(ROWS, waits.rows); w++) {
    const row = body.insertRow();
    for (const text of [ms(waits.since[w]), waits.rank[w], run.calls[bars.call[waits.bar[w]]], run.kinds[waits.kind[w]],
      waits.cause[w] < 0 ? "" : waits.cause[w] === waits.rank[w] ? "itself" : waits.cause[w],
      lasts(w)]) row.insertCell().textContent = text;
    const button = document.createElement("button");
    button.textContent = "show";
    button.setAttribute("aria-label", `show wait ${w + 1} in the timeline`);
    button.onclick = () => { go(w); byId("view").focus(); };
    row.insertCell().append(button);
  }
  if (!waits.rows) byId("waits").replaceWith("None was found.");
  rows();
  put("image of whole", {image: [image(all.map((_, k) => k), 0, run.length, 1000)], x: [0], y: [0], dw: [run.length / 1e6],
    dh: [all.length]});
  bound(run.from / 1e6, run.to / 1e6);
  draw();
  window.timeline = {shares, lastBar, bars, waits, messages, packets, go, step, at, draw, bound, range, describe, model,
    frames: () => frames, shown: () => shown, view: () => viewOf(plot)};
  document.documentElement.dataset.ready = "yes";
})();
