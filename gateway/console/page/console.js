// The console: requests the admin token where it is needed, follows the gateway, and shows whether it still answers.

import { follow } from './feed.js';
import { clockWithSeconds } from './format.js';
import { createPanels } from './panels.js';
import { place } from './tables.js';

/** Stored for this tab only, until it is closed. */
const TOKEN = 'admin-token';

const connection = place('connection');
const pause = place('pause');
const leave = place('leave');
const show = createPanels();
let stop = () => undefined;
let startedAtMs;
let restartedAtMs;
let paused = false;

function begin() {
  stop();
  stop = follow(sessionStorage.getItem(TOKEN), { feed: onFeed, lost: onLost, refused: onRefused });
}

function onFeed(feed) {
  place('login').hidden = true;
  place('panels').hidden = false;
  pause.hidden = false;
  leave.hidden = sessionStorage.getItem(TOKEN) === null;
  if (startedAtMs !== undefined && feed.started_at_ms !== startedAtMs) restartedAtMs = feed.started_at_ms;
  startedAtMs = feed.started_at_ms;
  const restarted = restartedAtMs === undefined ? '' : `, restarted at ${clockWithSeconds(restartedAtMs)}`;
  tell('good', `● Live${restarted}`);
  place('run').textContent =
    `version ${feed.status?.version ?? '?'} · up since ${clockWithSeconds(startedAtMs)} · as of ${clockWithSeconds(feed.at_ms)}`;
  show(feed);
}

function onLost(sinceMs) {
  tell('bad', `✕ No answer since ${clockWithSeconds(sinceMs)}; trying again`);
}

function onRefused() {
  const wasWrong = sessionStorage.getItem(TOKEN) !== null;
  sessionStorage.removeItem(TOKEN);
  tell('off', '○ Not shown without the token');
  place('run').textContent = '';
  place('panels').hidden = true;
  pause.hidden = true;
  leave.hidden = true;
  place('login').hidden = false;
  place('login-error').textContent = wasWrong ? 'This is not the admin token.' : '';
  place('token').value = '';
  place('token').focus();
}

/** Screen readers announce only changes. */
function tell(kind, text) {
  if (connection.textContent === text) return;
  connection.textContent = text;
  connection.className = `connection ${kind}`;
  document.body.classList.toggle('stale', kind === 'bad');
}

place('login').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, place('token').value.trim());
  begin();
});

leave.addEventListener('click', () => {
  stop();
  sessionStorage.removeItem(TOKEN);
  onRefused();
});

pause.addEventListener('click', () => {
  paused = !paused;
  pause.setAttribute('aria-pressed', String(paused));
  if (paused) {
    stop();
    tell('off', '○ Paused');
  } else begin();
});

begin();
