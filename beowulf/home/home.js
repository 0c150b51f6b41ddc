// The live part of the home page: the cluster as it is now, and the learner's progress.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  let before = null; // what was seen last
  let rate = ''; // of the cluster, as the page shows it

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

  function show(seen) {
    const flow = flows(seen);
    tell('sentence', seen.sentence);
    const wired = seen.nodes.length && seen.cables !== false;
    at('picture').replaceChildren(...(wired ? [picture(seen, flow)] : []));
    at('rates').hidden = seen.cables === false;
    at('nodes').replaceChildren(...table(seen, flow));
    at('nodes').closest('details').hidden = !seen.nodes.length;
    tell('held', seen.held || (seen.nodes.length ? 'Nobody is measuring on it now.' : ''));
    tell('load', `This machine, all nodes together: load ${seen.load.toFixed(2)}, cores: ${seen.cores}.`);
    tell('up', seen.nodes.length ? 'Heal' : 'Boot');
    at('down').setAttribute('aria-disabled', String(!seen.nodes.length));
    if (seen.rate && seen.rate !== rate) {
      at('rate').value = rate = seen.rate;
    }
    if (before?.held && !seen.held) {
      tell('message', '');
      void count();
    }
    before = seen;
  }

  // --- the labs

  const isDone = row => row.core > 0 && row.core_answered === row.core;

  function done(row) {
    if (row.questions > 0 && row.answered === row.questions) {
      return `✓ done, ${row.minutes} minute${row.minutes === 1 ? '' : 's'} measured`;
    }
    if (isDone(row)) {
      return `✓ core done, ${row.answered} of ${row.questions} questions in all`;
    }
    if (row.note || row.answered + row.sealed + row.records === 0) {
      return row.note || 'not begun';
    }
    const sealed = `${row.sealed} of ${row.predictions} predictions`;
    return `${row.core_answered} of ${row.core} core questions, ${sealed}, ${row.whole} Record${row.whole === 1 ? '' : 's'}`;
  }

  async function count() {
    const progress = await ask('home/progress');
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
      const link = line.querySelector('.name').cloneNode(true);
      at('next').replaceChildren('Next: ', link, `, ${done(next)}.`);
    } else {
      tell('next', 'The core of all labs is done.');
    }
    tell('calibration', progress.calibration);
  }

  // --- buttons and the link that writes the report

  async function report(link) {
    tell('message', 'The report is being written …');
    const made = await ask('home/report', {});
    tell('message', made.problem || '');
    if (!made.problem) {
      window.location.href = link.href;
    }
  }

  const look = watchCluster(show);
  const lookAgain = () => {
    rate = '';
    return look();
  };
  document.addEventListener('click', event => {
    const clicked = event.target.closest('a[data-report], button[data-command]');
    if (!clicked || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    void (clicked.dataset.command
      ? change(clicked, { command: clicked.dataset.command, rate: at('rate').value }, lookAgain)
      : report(clicked));
  });

  // The progress is counted when the page comes into sight: a process of a second.
  document.addEventListener('visibilitychange', () => !document.hidden && void count());
  void count();
})();
