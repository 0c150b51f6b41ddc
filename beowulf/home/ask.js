// What the pages of our server have in common: questions to it, and messages to the reader.
const about = name => document.querySelector(`meta[name=${name}]`).content;
const at = id => document.getElementById(id);
const base = about('base');

// The answer of a place of the server, as data; `problem` in it is a sentence where something went wrong.
async function ask(place, body) {
  const headers = { 'X-XSRFToken': about('xsrf') }; // a hub wants it of every request
  const request = body
    ? { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
    : { headers };
  const answer = await fetch(`${base}beowulf/${place}`, request).catch(() => null);
  if (!answer) {
    return { problem: 'JupyterLab does not answer. Is `make lab` still running in its terminal?' };
  }
  const data = await answer.json().catch(() => ({}));
  return answer.ok ? data : { problem: data.message || `The server answers with ${answer.status}: load this page again.` };
}

function tell(id, text) {
  if (at(id).textContent !== text) {
    at(id).textContent = text; // a screen reader hears what changes, and only that
  }
}

// Look at the cluster every two seconds while the page is in front, and every ten while someone measures: a look takes
// some milliseconds of a core.
function watchCluster(show) {
  let held = false;
  let looking = false;
  let theirs = false; // the message is of a command of another page
  let ticks = 0;
  async function look() {
    if (looking) {
      return;
    }
    looking = true;
    const seen = await ask('home/cluster');
    looking = false;
    held = Boolean(seen.held);
    if (seen.problem) {
      return tell('sentence', seen.problem);
    }
    if (!busy && (seen.under_way || theirs)) {
      theirs = Boolean(seen.under_way);
      tell('message', theirs ? `${seen.under_way} is under way.` : '');
    }
    show(seen);
  }
  const tick = () => !document.hidden && (!held || ticks++ % 5 === 0) && void look();
  setInterval(tick, 2000);
  document.addEventListener('visibilitychange', tick);
  tick();
  return look;
}

// Runs a command on the cluster by a button, one at a time; `look` shows what came of it.
let busy = false;
async function change(button, body, look) {
  const name = button.textContent;
  if (busy || button.getAttribute('aria-disabled') === 'true') {
    return tell('message', busy ? 'One command at a time: wait until the other is done.' : `${name}: no cluster is running.`);
  }
  busy = true;
  button.parentElement.setAttribute('aria-busy', 'true');
  tell('message', `${name} is under way …`);
  const done = await ask('home/cluster', body);
  busy = false;
  button.parentElement.setAttribute('aria-busy', 'false');
  tell('message', done.problem || done.done);
  await look();
  if (!done.problem) { // the line about the cluster says it from now on
    setTimeout(() => at('message').textContent === done.done && tell('message', ''), 10000);
  }
}
