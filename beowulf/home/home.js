// The live part of the home page: the cluster as it is now, the learner's progress, and links.
(() => {
  const EVERY_MS = 2000;
  const SVG = 'http://www.w3.org/2000/svg';
  const about = name => document.querySelector(`meta[name=${name}]`).content;
  const at = id => document.getElementById(id);
  const base = about('base');
  const inJupyterLab = window.parent !== window;
  let before = null; // what was seen last
  let busy = false; // a command of this page runs
  let theirs = false; // the message is of a command of another page
  let rate = ''; // of the cluster, as the page shows it

  async function ask(place, body) {
    const headers = { 'X-XSRFToken': about('xsrf') }; // a hub wants it of every request
    const request = body
      ? { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
      : { headers };
    const answer = await fetch(`${base}beowulf/home/${place}`, request).catch(() => null);
    if (!answer) {
      return { problem: 'JupyterLab does not answer. Does `make lab` still run in its terminal?' };
    }
    const data = await answer.json().catch(() => ({}));
    return answer.ok ? data : { problem: data.message || `The server answers with ${answer.status}: load this page again.` };
  }

  function tell(id, text) {
    if (at(id).textContent !== text) {
      at(id).textContent = text; // a screen reader hears what changes, and only that
    }
  }

  // --- the cluster

  const speed = (now, then, seconds) => (Math.max(0, now - then) * 8) / seconds / 1e6; // Mbit/s
  const sum = (links, what) => (links || []).reduce((all, link) => all + (link ? link[what] : 0), 0);

  // Cores in use and Mbit/s of each node, from the counters of now and of the last look; null where there are none.
  function flows(seen) {
    const seconds = before ? seen.at_s - before.at_s : 0;
    const then = Object.fromEntries((before ? before.nodes : []).map(each => [each.node, each]));
    return seen.nodes.map(each => {
      const last = then[each.node];
      if (!last || !seconds || each.cpu_s === undefined || each.state === 'down' || last.state === 'down') {
        return null;
      }
      return {
        cores: Math.max(0, each.cpu_s - last.cpu_s) / seconds,
        sent: speed(sum(each.links, 'sent'), sum(last.links, 'sent'), seconds),
        received: speed(sum(each.links, 'received'), sum(last.links, 'received'), seconds)
      };
    });
  }

  function draw(parent, tag, attributes, text = '') {
    const made = parent.appendChild(document.createElementNS(SVG, tag));
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.textContent = text;
  }

  // A line for each node: the switch at the left, a cable, the node with a bar for its cores in use.
  function picture(seen, flow) {
    const row = 34;
    const height = seen.nodes.length * row;
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', `0 0 384 ${height + 4}`);
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-labelledby', 'picture-title');
    const names = seen.nodes.map(each => `${each.node} ${each.state}`).join(', ');
    draw(svg, 'title', { id: 'picture-title' }, `A switch with a cable to each node: ${names}. The table below has the figures.`);
    for (let network = 0; network < (seen.networks || 1); network++) {
      draw(svg, 'rect', { x: 2 + 20 * network, y: 2, width: 14, height, rx: 3, class: 'switch' });
      const middle = { x: 9 + 20 * network, y: 2 + height / 2 };
      draw(svg, 'text', { ...middle, transform: `rotate(-90 ${middle.x} ${middle.y})`, class: 'on-switch' }, 'switch');
    }
    seen.nodes.forEach((each, index) => {
      const top = 2 + index * row;
      const used = flow[index];
      const traffic = used ? used.sent + used.received : 0;
      for (let network = 0; network < (seen.networks || 1); network++) {
        const y = top + 19 + 5 * network;
        const kind = each.state === 'down' ? 'cable down' : traffic > 0.1 ? 'cable flowing' : 'cable';
        draw(svg, 'line', { x1: 16 + 20 * network, y1: y, x2: 176, y2: y, class: kind });
      }
      const said = used ? `→ ${used.received.toFixed(1)}  ← ${used.sent.toFixed(1)} Mbit/s` : '';
      draw(svg, 'text', { x: 44, y: top + 13 }, said);
      draw(svg, 'rect', { x: 176, y: top + 2, width: 204, height: row - 5, rx: 4, class: each.state === 'down' ? 'node down' : 'node' });
      if (used) {
        const share = Math.min(1, used.cores / seen.cores);
        draw(svg, 'rect', { x: 179, y: top + row - 9, width: 198 * share, height: 4, class: 'load' });
      }
      const state = used ? `${used.cores.toFixed(2)} cores` : each.state;
      draw(svg, 'text', { x: 183, y: top + 18, class: 'name' }, each.node + (index ? '' : ' (master)'));
      draw(svg, 'text', { x: 375, y: top + 18, 'text-anchor': 'end' }, state);
    });
    return svg;
  }

  function table(seen, flow) {
    return seen.nodes.map((each, index) => {
      const used = flow[index];
      const figures = used ? [used.cores.toFixed(2), used.sent.toFixed(1), used.received.toFixed(1)] : ['', '', ''];
      const line = document.createElement('tr');
      [each.node, each.address, each.state, ...figures].forEach((text, place) => {
        const cell = line.appendChild(document.createElement(place ? 'td' : 'th'));
        Object.assign(cell, place ? {} : { scope: 'row' }, { textContent: text });
      });
      return line;
    });
  }

  function show(seen, mine) {
    const flow = flows(seen);
    tell('sentence', seen.sentence);
    const wired = seen.nodes.length && seen.cables !== false;
    at('picture').replaceChildren(...(wired ? [picture(seen, flow)] : []));
    at('rates').hidden = seen.cables === false;
    at('nodes').replaceChildren(...table(seen, flow));
    at('nodes').closest('details').hidden = !seen.nodes.length;
    tell('held', seen.held || (seen.nodes.length ? 'Nobody measures on it now.' : ''));
    tell('load', `This machine: load ${seen.load.toFixed(2)} on ${seen.cores} cores, all nodes together.`);
    tell('up', seen.nodes.length ? 'Heal' : 'Boot');
    at('down').setAttribute('aria-disabled', String(!seen.nodes.length));
    if (seen.rate && seen.rate !== rate) {
      at('rate').value = rate = seen.rate;
    }
    if (!mine && (seen.under_way || theirs)) {
      theirs = Boolean(seen.under_way);
      tell('message', theirs ? `${seen.under_way} is under way.` : '');
    }
    if (before?.held && !seen.held) {
      tell('message', '');
      void count();
    }
    before = seen;
  }

  // Seen is a page in a tab of the browser that is in front, and in a tab of JupyterLab that is.
  const isSeen = () => !document.hidden && (!inJupyterLab || window.frameElement.getClientRects().length > 0);

  let looking = false;
  async function look() {
    if (looking || !isSeen()) {
      return;
    }
    looking = true;
    const mine = busy;
    const seen = await ask('cluster');
    looking = false;
    return seen.problem ? tell('sentence', seen.problem) : show(seen, mine);
  }

  async function change(button) {
    const name = button.textContent;
    if (busy || button.getAttribute('aria-disabled') === 'true') {
      return tell('message', busy ? 'One command at a time: wait until it is done.' : `${name}: no cluster runs.`);
    }
    busy = true;
    at('controls').setAttribute('aria-busy', 'true');
    tell('message', `${name} is under way …`);
    const done = await ask('cluster', { command: button.dataset.command, rate: at('rate').value });
    busy = false;
    at('controls').setAttribute('aria-busy', 'false');
    rate = '';
    tell('message', done.problem || done.done);
    await look();
  }

  // --- the labs

  const isDone = row => row.questions > 0 && row.answered === row.questions && row.sealed === row.predictions;

  function done(row) {
    if (isDone(row)) {
      return `✓ done, ${row.minutes} minutes measured`;
    }
    if (row.note || row.answered + row.sealed + row.records === 0) {
      return row.note || 'not begun';
    }
    const sealed = `${row.sealed} of ${row.predictions} predictions`;
    return `${row.answered} of ${row.questions} questions, ${sealed}, ${row.whole} Record${row.whole === 1 ? '' : 's'}`;
  }

  async function count() {
    const progress = await ask('progress');
    if (progress.problem) {
      return tell('next', progress.problem);
    }
    progress.rows.forEach(row => {
      const line = document.querySelector(`tr[data-lab="${row.lab}"]`);
      line?.classList.remove('next');
      line?.querySelector('.done').replaceChildren(done(row));
    });
    const next = progress.rows.find(row => !isDone(row));
    const line = next && document.querySelector(`tr[data-lab="${next.lab}"]`);
    if (line) {
      line.classList.add('next');
      const link = line.querySelector('[data-open]').cloneNode(false);
      link.textContent = line.querySelector('.name').textContent;
      at('next').replaceChildren('Next: ', link, `, ${done(next)}.`);
    } else {
      tell('next', 'All labs are done.');
    }
    tell('calibration', progress.calibration);
  }

  // --- links: JupyterLab opens them as tabs; in a window of its own the page goes there

  const send = message => window.parent.postMessage({ beowulf: message }, window.location.origin);

  async function open(link) {
    const { open, make, show } = link.dataset;
    tell('message', make ? `${show}: is being written …` : '');
    const found = make || open ? await ask(make || 'open', { lab: open }) : {};
    tell('message', found.problem || '');
    if (found.problem) {
      at('message').scrollIntoView({ block: 'nearest' });
    } else if (!inJupyterLab) {
      window.location.href = found.path ? `${base}lab/tree/${encodeURI(found.path)}` : link.href;
    } else {
      send(found.path ? { open: found.path } : { show: link.href, title: show, again: Boolean(make) });
    }
  }

  document.addEventListener('click', event => {
    const clicked = event.target.closest('a[data-open], a[data-show], button[data-command]');
    if (!clicked || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    void (clicked.dataset.command ? change(clicked) : open(clicked));
  });

  // The progress is counted when the page comes into sight: a process of a second. The cluster is looked at every two
  // seconds, and every ten while someone measures: a look takes some milliseconds of a core.
  let ticks = 0;
  let wasSeen = false;
  function tick() {
    const seen = isSeen();
    if (seen && !wasSeen) {
      void count();
    }
    wasSeen = seen;
    if (!before?.held || ticks++ % 5 === 0) {
      void look();
    }
  }
  setInterval(tick, EVERY_MS);
  tick();
})();
