// The console: requests a token where it is needed, says what its holder may, follows the gateway, shows the view of the address, and says whether the
// gateway still answers.

import { mayAct, setRole } from './actions.js';
import { forgetToken, hasToken, read, setToken, Unauthorized } from './api.js';
import { showAudit } from './audit.js';
import { showConfiguration } from './configuration.js';
import { element, place } from './elements.js';
import { exchanges } from './exchanges.js';
import { openExplain } from './explain.js';
import { follow } from './follow.js';
import { clockWithSeconds } from './format.js';
import { refreshOrganization, searchText, showOrganization, showSearch } from './organizations.js';
import { overview } from './overview.js';
import { addressOf, keep, routeIn } from './routes.js';
import { showRoutes } from './routes-view.js';
import { showRunbook } from './runbook.js';
import { showStory } from './story.js';
import { createBreakdown, openSubject, SUBJECTS, showCode, showSubject, subjectIn } from './subject.js';
import { system } from './system.js';
import { copyLink, placeTime, renewedEveryMs, shownTime } from './time-range.js';

const BREAKDOWN_EVERY_MS = 4000;
const titles = {
  overview: 'Overview',
  requests: 'Requests',
  organizations: 'Organizations',
  system: 'System',
  runbook: 'Runbook',
  routes: 'Routes',
  audit: 'Audit',
  configuration: 'Configuration',
  explain: 'Explain a request',
  operations: 'Operation',
  upstreams: 'Upstream',
  codes: 'Error code',
};

const connection = place('connection');
const pause = place('pause');
const leave = place('leave');
const instance = place('instance');
const showOverview = overview();
const showSystem = system();
const list = exchanges({ answer: onAnswer, lost: onLost, refused: onRefused });
let stop = () => undefined;
let session;
let signingIn = false;
let startedAt;
let restartedAt;
let answeredAtMs = Date.now();
let paused = false;
let refreshing = false;
let shown;
/** The question to the gateway that is repeated. */
let asked;
let latest;
let stopBreakdown = () => undefined;

/** What the address asks of the gateway: time, instance, and what the view is about. */
function questionOf(route) {
  const { view, params } = route;
  const operation = view === 'overview' ? (params.get('operation') ?? undefined) : undefined;
  return { ...shownTime(), instance: params.get('instance') ?? undefined, operation, ...subjectIn(route) };
}

function begin() {
  stop();
  const question = questionOf(routeIn(location.hash));
  asked = JSON.stringify(question);
  const ask = async () => {
    if (session === undefined) showSession(await read('session'));
    return read('feed', question);
  };
  stop = follow(ask, renewedEveryMs(), { answer: onFeed, lost: onLost, refused: onRefused });
}

/** On loopback a wrong token is no obstacle to looking, but its holder wants to know. */
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
  if (mayAct()) return 'Each action says first what it will do, and stands in the audit log. The commands do the same.';
  const why = canAct ? 'a token that may act is needed for that' : 'this gateway has no token that may act';
  return `Nothing is changed from this page: ${why}. Each action is a command to copy.`;
}

/** Another token may show more, or less. */
function startAnew() {
  session = undefined;
  startedAt = undefined;
  begin();
}

function onFeed(feed) {
  onAnswer();
  latest = feed;
  const isFirst = startedAt === undefined;
  if (!isFirst && feed.started_at !== startedAt) restartedAt = feed.started_at;
  startedAt = feed.started_at;
  place('run').textContent = `as of ${clockWithSeconds(Date.parse(feed.at))}`;
  place('run').title = `Version ${feed.status?.version ?? '?'}`;
  offerInstances(feed);
  if (isFirst) showView();
  showOverview(feed);
  showSystem(feed);
  showSubject(feed);
  list.feed(feed);
  if (!isFirst) void refreshView();
}

/** An organization is read again with each answer: a key that is revoked beside the page must not stay active on it. */
async function refreshView() {
  const { view, id } = routeIn(location.hash);
  if (view !== 'organizations' || id === undefined || refreshing) return;
  refreshing = true;
  await refreshOrganization(id).catch(() => undefined);
  refreshing = false;
}

/** Shown only where there is a choice. */
function offerInstances({ instances, instance: chosen }) {
  const wanted = [['all', 'All instances'], ...instances.map(({ id, name }) => [id, name])];
  place('instances-box').hidden = instances.length < 2;
  if (wanted.join() !== [...instance.options].map(({ value, text }) => [value, text]).join())
    instance.replaceChildren(...wanted.map(([value, name]) => element('option', { value }, name)));
  instance.value = chosen;
}

function onAnswer() {
  answeredAtMs = Date.now();
  if (!signingIn) place('login').hidden = true;
  place('views').hidden = false;
  place('nav').hidden = false;
  pause.hidden = false;
  leave.hidden = !hasToken();
  if (!paused)
    tell(
      'good',
      `● Live${restartedAt === undefined ? '' : `, restarted at ${clockWithSeconds(Date.parse(restartedAt))}`}`,
    );
}

function onLost() {
  tell('bad', `✕ No response since ${clockWithSeconds(answeredAtMs)}; trying again`);
}

function onRefused() {
  stop();
  list.close();
  stopBreakdown();
  const wasWrong = hasToken();
  forgetToken();
  session = undefined;
  place('role').textContent = '';
  tell('off', '○ Not shown without a token');
  place('run').textContent = '';
  for (const part of [place('views'), place('nav'), pause, leave, place('sign-in')]) part.hidden = true;
  askForToken(wasWrong ? 'This is the token of no operator.' : '');
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
}

/** Shows the view of the address. */
async function showView() {
  const { view, id, params } = routeIn(location.hash);
  const name = view in titles ? view : 'overview';
  const panel = id === undefined ? name : name === 'requests' ? 'story' : name in SUBJECTS ? 'subject' : undefined;
  const wanted = name === 'runbook' ? 'runbook' : (panel ?? name);
  for (const part of document.querySelectorAll('[data-view]')) part.hidden = part.dataset.view !== wanted;
  for (const one of document.querySelectorAll('#nav a')) {
    if (one.dataset.name === name) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
  const hasCharts = wanted === 'overview' || wanted === 'subject';
  for (const part of document.querySelectorAll('.of-charts')) part.hidden = !hasCharts;
  place('controls').hidden = wanted === 'runbook';
  document.title = `${id ?? titles[name]} · Gateway console`;
  stopBreakdown();
  if (wanted === 'requests') list.open(params);
  else list.close();
  if (shown !== undefined && shown !== location.hash) {
    place('main').focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  shown = location.hash;
  try {
    if (wanted === 'story') await showStory(id);
    if (wanted === 'subject') await openedSubject(name, id);
    if (wanted === 'routes') await showRoutes();
    if (wanted === 'audit') await showAudit();
    if (wanted === 'configuration') await showConfiguration();
    if (wanted === 'explain') openExplain();
    if (wanted === 'runbook') await showRunbook(id ?? '');
    if (wanted === 'organizations') {
      place('find').value = params.get('find') ?? '';
      await showSearch(params.get('find') ?? '');
    }
  } catch {
    // The connection is told at the top by the next question to the gateway.
    onLost();
  }
}

/** Charts come with the feed, the rest is asked here. */
async function openedSubject(view, id) {
  openSubject({ view, id });
  if (latest !== undefined && JSON.stringify(questionOf(routeIn(location.hash))) === asked) showSubject(latest);
  const show = createBreakdown();
  const question = { ...subjectIn({ view, id }), ...shownTime(), instance: instance.value };
  delete question.range;
  const tell = { answer: (found) => show(found), lost: onLost, refused: onRefused };
  stopBreakdown = follow(() => read('breakdown', question), BREAKDOWN_EVERY_MS, tell);
  if (view === 'organizations') await showOrganization(id);
  if (view === 'codes') showCode(await read(`codes/${encodeURIComponent(id)}`));
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

place('jump').addEventListener('submit', (event) => {
  event.preventDefault();
  const id = place('request-id').value.trim();
  if (id !== '') location.hash = addressOf('requests', {}, id);
});

place('search').addEventListener('submit', (event) => {
  event.preventDefault();
  location.hash = addressOf('organizations', { find: searchText(place('find').value) });
});

leave.addEventListener('click', () => {
  forgetToken();
  startAnew();
});

pause.addEventListener('click', () => {
  paused = !paused;
  pause.setAttribute('aria-pressed', String(paused));
  if (paused) {
    stop();
    tell('off', '○ Paused');
  } else begin();
});

instance.addEventListener('change', () => {
  const { view, id, params } = routeIn(location.hash);
  location.hash = addressOf(view, { ...Object.fromEntries(params), instance: instance.value }, id);
});
place('copy-link').addEventListener('click', ({ currentTarget }) => {
  const hasCharts = !place('ranges').hidden && latest?.history;
  void copyLink(currentTarget, hasCharts ? { from: latest.history.from, to: latest.at } : undefined);
});
// The address belongs to the views.
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

addEventListener('hashchange', () => {
  onAddress();
  if (startedAt === undefined) return;
  void showView();
  if (!paused && JSON.stringify(questionOf(routeIn(location.hash))) !== asked) begin();
});

onAddress();

begin();
