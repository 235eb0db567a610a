// The console: asks for a token if the gateway needs one, shows the role of its holder, shows the view of the address, and says whether the
// gateway still answers.

import { ALL, addressOf, instanceIn, keep, routeIn, subjectIn } from './addresses.js';
import { follow, forgetToken, hasToken, mayAct, read, setPaused, setRole, setToken, Unauthorized } from './api.js';
import { element, place, refill, signed } from './elements.js';
import { clockWithSeconds, gatewayNow, setGatewayTime } from './format.js';
import { placeTime, renewedEveryMs, shownTime, timeName } from './time-range.js';
import { createViews } from './views.js';

const connection = place('connection');
const pause = place('pause');
const leave = place('leave');
const instance = place('instance');
const views = createViews({ answer: onAnswer, lost: onLost, refused: onRefused }, latestFeed, feedBefore);
let stop = () => undefined;
let session;
let signingIn = false;
let startedAt;
let restartedAt;
let answeredAtMs = gatewayNow();
let paused = false;
let refused = false;
/** The question to the gateway that is repeated, and the latest answer to it. */
let asked;
let latest;
/** The latest answer of any view, and its time and instance. */
let before;

/** The question of an address: its time, its instance, and the subject of its view. */
function questionOf(route) {
  const { view, params } = route;
  const operation = view === 'overview' ? (params.get('operation') ?? undefined) : undefined;
  return { ...shownTime(), instance: instanceIn(route), operation, ...subjectIn(route) };
}

function begin() {
  stop();
  refused = false;
  const question = questionOf(routeIn(location.hash));
  asked = JSON.stringify(question);
  latest = undefined;
  const ask = async () => {
    if (session === undefined) showSession(await read('session'));
    return read('feed', question);
  };
  stop = follow(ask, renewedEveryMs(), { answer: onFeed, lost: onLost, refused: onRefused });
}

/** On loopback the page works without a token, but the holder of a wrong one wants to know that it is wrong. */
function showSession(known) {
  if (hasToken() && !known.has_token) throw new Unauthorized();
  session = known;
  setRole(known.role);
  const name = known.name === null || known.name.endsWith('_token') ? '' : `${known.name}, `;
  place('role').textContent = `${mayAct() ? '●' : '○'} Role: ${name}${known.role}`;
  place('sign-in').hidden = known.has_token || !known.can_act;
  place('acting').textContent = noteFor(known);
}

function noteFor({ can_act: canAct }) {
  if (mayAct())
    return 'Each action first shows what it will do, and is recorded in the audit log. The commands do the same.';
  const why = canAct ? 'to act, sign in with a token of the role admin' : 'this gateway has no token of the role admin';
  return `Read-only: ${why}. Each action is shown as a command to copy.`;
}

/** Starts again with another token, which may show more, or less. */
function startAnew() {
  session = undefined;
  startedAt = undefined;
  begin();
}

function onFeed(feed) {
  onAnswer();
  latest = feed;
  before = { feed, shown: timeAndInstance() };
  setGatewayTime(feed.at);
  const isFirst = startedAt === undefined;
  if (!isFirst && feed.started_at !== startedAt) restartedAt = feed.started_at;
  startedAt = feed.started_at;
  place('run').textContent = `as of ${clockWithSeconds(Date.parse(feed.at))}`;
  place('run').title = `Version ${feed.status?.version ?? '?'}`;
  // A tab in the background says by its title that something fails.
  const failures = feed.attention.filter(({ kind }) => kind === 'bad').length;
  document.title = document.title.replace(/^(?:\(\d+\) )?/, failures === 0 ? '' : `(${failures}) `);
  offerInstances(feed);
  showWithout(feed);
  for (const one of document.querySelectorAll('.range-title')) one.textContent = timeName();
  if (isFirst) void views.show();
  else views.feed(feed);
}

/** The latest answer; undefined while the current address has none. */
function latestFeed() {
  return JSON.stringify(questionOf(routeIn(location.hash))) === asked ? latest : undefined;
}

/** The feed before, if it has the time and the instance of this address. */
function feedBefore() {
  return before?.shown === timeAndInstance() ? before.feed : undefined;
}

function timeAndInstance() {
  return JSON.stringify([shownTime(), instanceIn(routeIn(location.hash))]);
}

/** Shows the choice of an instance if there are several. */
function offerInstances({ instances, instance: chosen }) {
  const wanted = [[ALL, 'All instances'], ...instances.map(({ id, name }) => [id, name])];
  place('instances-box').hidden = instances.length < 2;
  if (wanted.join() !== [...instance.options].map(({ value, text }) => [value, text]).join())
    instance.replaceChildren(...wanted.map(([value, name]) => element('option', { value }, name)));
  instance.value = chosen;
}

/** Charts that fall because an instance is not counted must not look like a loss of traffic. */
function showWithout({ without, ended, can_ask: canAsk, instances, here }) {
  const names = without.join(', ');
  const lost = without.filter((name) => !ended.some(({ instance }) => instance === name));
  const told = ended.map(
    ({ instance, until }) => `${instance} does not respond: its figures end at ${clockWithSeconds(Date.parse(until))}.`,
  );
  if (lost.length > 0)
    told.push(
      `Without the figures of ${lost.join(', ')}, which does not respond. Its earlier figures are missing, too.`,
    );
  const own = instances.find(({ id }) => id === here)?.name;
  const text = canAsk
    ? told.join(' ')
    : `Only ${own}: Redis is away, so the figures of ${names} are missing for the whole time.`;
  const box = place('without');
  box.hidden = without.length === 0;
  if (without.length > 0) refill(box, element('p', {}, signed('warn', text)));
}

function onAnswer() {
  answeredAtMs = gatewayNow();
  if (!signingIn) place('login').hidden = true;
  place('views').hidden = false;
  place('nav').hidden = false;
  pause.hidden = false;
  place('copy-link').hidden = false;
  leave.hidden = !hasToken();
  if (!paused)
    tell(
      'good',
      `● Live${restartedAt === undefined ? '' : `, restarted at ${clockWithSeconds(Date.parse(restartedAt))}`}`,
    );
}

function onLost() {
  const since = clockWithSeconds(answeredAtMs);
  tell('bad', `✕ No response since ${since}`);
  for (const name of ['lost-since', 'attention-as-of']) place(name).textContent = since;
}

function onRefused() {
  stop();
  refused = true;
  views.close();
  const wasWrong = hasToken();
  forgetToken();
  session = undefined;
  place('role').textContent = '';
  tell('off', '○ Token required');
  place('run').textContent = '';
  for (const part of [place('views'), place('nav'), pause, leave, place('copy-link'), place('sign-in')])
    part.hidden = true;
  askForToken(wasWrong ? 'No operator has this token.' : '');
  startedAt = undefined;
}

function askForToken(error) {
  place('login').hidden = false;
  place('login-error').textContent = error;
  place('token').value = '';
  place('token').focus();
}

/** Screen readers announce only changes. */
function tell(kind, text) {
  if (connection.textContent === text) return;
  connection.textContent = text;
  connection.className = `connection ${kind}`;
  document.body.classList.toggle('stale', kind === 'bad');
  place('lost').hidden = kind !== 'bad';
}

place('login').addEventListener('submit', (event) => {
  event.preventDefault();
  setToken(place('token').value.trim());
  signingIn = false;
  startAnew();
});

place('sign-in').addEventListener('click', () => {
  signingIn = true;
  askForToken('');
});

place('jump').addEventListener('submit', async (event) => {
  event.preventDefault();
  const text = place('request-id').value.trim();
  if (text === '') return;
  try {
    const { addressFor } = await import('./search.js');
    location.hash = await addressFor(text, latest ?? before?.feed);
  } catch {
    onLost();
  }
});

addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key !== '/' || ctrlKey || metaKey || altKey || target.closest('input, textarea, select, dialog')) return;
  event.preventDefault();
  place('request-id').focus();
  place('request-id').select();
});

leave.addEventListener('click', () => {
  forgetToken();
  startAnew();
});

pause.addEventListener('click', () => {
  paused = !paused;
  setPaused(paused);
  pause.textContent = paused ? 'Resume' : 'Pause';
  tell(...(paused ? ['off', '○ Paused'] : ['good', '● Live']));
});

instance.addEventListener('change', () => {
  const { view, id, params } = routeIn(location.hash);
  const chosen = instance.value === ALL ? undefined : instance.value;
  location.hash = addressOf(view, { ...Object.fromEntries(params), instance: chosen }, id);
});
place('copy-link').addEventListener('click', async ({ currentTarget }) => {
  await import('./copy-link.js').then(({ copyLink }) => copyLink(currentTarget, latest), onLost);
});
place('reload').addEventListener('click', () => location.reload());
// The views read the address.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  place('main').focus();
});

/** The links at the top keep the time and the instance that are shown. */
function onAddress() {
  const route = routeIn(location.hash);
  keep(route);
  placeTime();
  for (const one of document.querySelectorAll('#nav a')) one.href = addressOf(one.dataset.name);
}

// A click will probably follow, so its script is loaded now.
addEventListener('pointerover', ({ target }) => {
  const lead = startedAt === undefined ? null : target.closest?.('a[href^="#/"]');
  if (lead) views.prepare(routeIn(lead.hash));
});

addEventListener('hashchange', () => {
  onAddress();
  if (startedAt !== undefined) void views.show();
  // This applies before the first answer, too, because the earlier question was about another view. Without a token, nothing is asked.
  if (!refused && JSON.stringify(questionOf(routeIn(location.hash))) !== asked) begin();
});

onAddress();

begin();
