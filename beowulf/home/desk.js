// A lab's page: handout and notebook side by side, the cluster, Check with hints, and a terminal.
(() => {
  const SECTION = /^#{1,2}\s+(\d+)\s/m; // the heading of a numbered section, in Markdown
  const lab = about('lab');
  const path = about('notebook'); // from the server's root on
  const wants = { networks: Number(about('networks')), rate: about('rate') };
  const panes = at('panes');

  // --- JupyterLab in the right frame

  const app = () => at('notebook').contentWindow?.jupyterapp;
  const widgets = () => [...(app()?.shell.widgets('main') ?? [])];
  const panel = () => widgets().find(each => each.context?.path === path && each.content?.widgets);

  // JupyterLab saves by itself as well. Two saves at once would find that the file has changed, and ask the learner; so
  // each save waits for the one before.
  function oneByOne(context) {
    const save = context.save.bind(context);
    let last = Promise.resolve();
    context.save = () => (last = last.catch(() => {}).then(save));
  }

  // JupyterLab breaks what a cell prints within words.
  function keepWords(page) {
    const style = page.createElement('style');
    style.textContent = 'body .jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }';
    page.head.append(style);
  }

  // A cell that runs finds itself saved: `check` reads the file, and so does the progress on the home page. The frame can
  // be loaded again, and has another panel then.
  let watched = null;
  function watch() {
    const found = panel();
    at('to-notebook').hidden = !found || found.isVisible; // behind a terminal, or another file
    if (!found || found === watched) {
      return;
    }
    watched = found;
    oneByOne(found.context);
    keepWords(found.node.ownerDocument);
    found.sessionContext.statusChanged.connect((_, status) => {
      if (status === 'busy' && found.context.model.dirty) {
        found.context.save().catch(() => {});
      }
    });
    found.content.activeCellChanged.connect(showSection);
    showSection();
  }

  const source = cell => cell.model.sharedModel.getSource();

  function sectionOf(content) {
    const above = content.widgets.slice(0, content.activeCellIndex + 1).reverse();
    const heading = above.find(cell => cell.model.type === 'markdown' && SECTION.test(source(cell)));
    return heading ? SECTION.exec(source(heading))[1] : '';
  }

  function showSection() {
    const number = panel() ? sectionOf(panel().content) : '';
    at('to-handout').hidden = !number;
    tell('to-handout', number ? `Section ${number} in the handout` : '');
    at('to-handout').dataset.section = number;
  }

  let wanted = ''; // the number of the section that was asked for last

  // While JupyterLab loads, it has no cells yet, or goes back to the first; so this looks whether the section stays.
  async function toNotebook(number) {
    wanted = number;
    open('notebook', true);
    for (let tries = 0, seen = 0; tries < 240 && seen < 3 && wanted === number; tries++) {
      const content = panel()?.content;
      const index = content?.widgets.findIndex(
        cell => cell.model.type === 'markdown' && SECTION.exec(source(cell))?.[1] === number
      );
      if (index >= 0) {
        const { top } = content.widgets[index].node.getBoundingClientRect();
        const isSeen = content.widgets[index].inViewport && top >= 0 && top < content.node.ownerDocument.defaultView.innerHeight;
        seen = isSeen && tries ? seen + 1 : 0;
        if (!seen) {
          content.activeCellIndex = index;
          await content.scrollToItem(index, 'start');
        }
      }
      await new Promise(done => setTimeout(done, 250));
    }
  }

  async function terminal() {
    if (!app()) {
      return tell('message', 'The notebook is still loading.');
    }
    open('notebook', true);
    const name = `lab${lab}`; // when this page is opened again, its shell is still there
    const ours = widgets().find(each => each.content?.session?.name === name);
    if (ours) {
      return app().shell.activateById(ours.id);
    }
    await app().commands.execute('terminal:create-new', { name, cwd: path.split('/').slice(0, -1).join('/') });
  }

  // --- the handout in the left frame

  const handout = () => at('handout').contentDocument;

  // The numbered sections, unless a link led to another text.
  function headings() {
    const all = handout().URL.split('#')[0] === at('handout').src ? handout().querySelectorAll('h2') : [];
    return [...all].filter(each => /^\d+ /.test(each.textContent));
  }

  function tie() {
    for (const heading of headings().filter(each => !each.querySelector('.tie'))) {
      const [number] = heading.textContent.split(' ');
      const button = heading.appendChild(handout().createElement('button'));
      Object.assign(button, { type: 'button', className: 'tie', textContent: 'in the notebook' });
      button.setAttribute('aria-label', `Section ${number} in the notebook`);
      button.addEventListener('click', () => void toNotebook(number));
    }
  }

  function toHandout(number) {
    open('handout', true);
    const heading = headings().find(each => each.textContent.startsWith(`${number} `));
    if (heading) {
      heading.scrollIntoView();
    } else {
      handout().location = at('handout').src;
    }
  }

  // --- panes

  // A small window has room for one.
  const small = window.matchMedia('(max-width: 48rem)');

  function open(name, isOpen) {
    const other = name === 'handout' ? 'notebook' : 'handout';
    panes.classList.toggle(`no-${name}`, !isOpen);
    panes.classList.toggle(`no-${other}`, isOpen && (small.matches || panes.classList.contains(`no-${other}`)));
    for (const each of ['handout', 'notebook']) {
      document.querySelector(`[data-pane=${each}]`).setAttribute('aria-pressed', String(!panes.classList.contains(`no-${each}`)));
    }
  }

  function share(percent) {
    const whole = Math.round(Math.min(80, Math.max(15, percent)));
    panes.style.setProperty('--handout', `${whole}%`);
    at('divider').setAttribute('aria-valuenow', whole);
    localStorage.setItem('beowulf-handout', whole);
  }

  at('divider').addEventListener('pointerdown', event => {
    at('divider').setPointerCapture(event.pointerId);
    panes.classList.add('dragged');
  });
  at('divider').addEventListener('pointermove', event => {
    if (panes.classList.contains('dragged')) {
      const { left, width } = panes.getBoundingClientRect();
      share(((event.clientX - left) / width) * 100);
    }
  });
  at('divider').addEventListener('lostpointercapture', () => panes.classList.remove('dragged'));
  at('divider').addEventListener('keydown', event => {
    const step = { ArrowLeft: -5, ArrowRight: 5 }[event.key];
    if (step) {
      event.preventDefault();
      share(Number(at('divider').getAttribute('aria-valuenow')) + step);
    }
  });
  // Both panes where there is room, and the handout alone where there is not.
  const fit = () => { open('handout', false); open('handout', true); };
  small.addEventListener('change', fit);
  fit();
  share(Number(localStorage.getItem('beowulf-handout')) || 40);

  // --- Check, and hints one by one

  async function check() {
    tell('message', 'Checking …');
    // What is typed during a save counts as saved in JupyterLab and is not: so this saves in any case.
    await panel()?.context.save().catch(() => {});
    const answer = await ask('check', { path });
    tell('message', answer.problem || '');
    at('answers').hidden = Boolean(answer.problem);
    if (answer.problem) {
      return;
    }
    at('table').innerHTML = answer.html; // what a learner wrote is escaped in it
    for (const row of at('table').querySelectorAll('tbody tr')) {
      if (row.querySelector('[aria-hidden]').textContent !== '✓') {
        const button = row.insertCell().appendChild(document.createElement('button'));
        Object.assign(button, { type: 'button', textContent: 'Hint' });
        button.setAttribute('aria-label', `Hint for ${row.cells[0].textContent}`);
        button.addEventListener('click', () => void hint(row, row.cells[0].textContent));
      }
    }
    at('answers').focus();
  }

  async function hint(row, question) {
    let below = row.nextElementSibling;
    if (!below?.classList.contains('hint')) {
      below = row.parentElement.insertBefore(document.createElement('tr'), row.nextSibling);
      below.className = 'hint';
      Object.assign(below.insertCell(), { colSpan: 6 });
      below.cells[0].setAttribute('role', 'status');
      below.cells[0].textContent = 'Looking …';
    }
    const answer = await ask('hint', { path, question });
    below.cells[0].textContent = answer.problem || answer.says;
  }

  // --- the cluster

  function show(seen) {
    const some = seen.nodes.length > 0;
    const differs = Boolean(
      some && seen.rate && (seen.networks !== wants.networks || seen.rate !== wants.rate)
    );
    tell('sentence', seen.held || seen.sentence);
    tell('load', `Load ${seen.load.toFixed(2)}, cores: ${seen.cores}`);
    at('set-up').hidden = some && !differs;
    tell('set-up', some ? `Set up ${at('set-up').dataset.wants}` : 'Boot the cluster');
    at('set-up').classList.toggle('wanted', differs);
  }

  const look = watchCluster(show);
  at('set-up').addEventListener('click', () => void change(at('set-up'), { command: 'lab', lab }, look));
  at('check').addEventListener('click', () => void check());
  at('terminal').addEventListener('click', () => void terminal());
  at('to-notebook').addEventListener('click', () => panel() && app().shell.activateById(panel().id));
  at('to-handout').addEventListener('click', () => toHandout(at('to-handout').dataset.section));
  at('close').addEventListener('click', () => {
    at('answers').hidden = true;
    at('check').focus();
  });
  for (const button of document.querySelectorAll('[data-pane]')) {
    button.addEventListener('click', () => open(button.dataset.pane, button.getAttribute('aria-pressed') !== 'true'));
  }
  at('handout').addEventListener('load', tie);
  if (handout()?.readyState === 'complete') {
    tie();
  }
  setInterval(watch, 500);
})();
