// The page of an operation, an upstream, an organization or an error code: its figures, compared with the day before, its charts, the
// errors, callers and operations among the remembered requests, and the latest requests.

import { attentionLine, isSlow } from './attention.js';
import { causesAbout } from './causes-about.js';
import { sparkline } from './chart-kinds.js';
import { element, link, place, state } from './elements.js';
import { exchangeTable } from './exchanges.js';
import { count, lastSpan, moment, operationName, percent, quantile, rate } from './format.js';
import { addressOf, routeIn } from './routes.js';
import { piecesIn } from './runbook.js';
import { BREAKER_KINDS, credentialState, stateOfTarget, stateText, TARGET_KINDS } from './states.js';
import { SUBJECTS, subjectIn } from './subjects.js';
import { createTable } from './tables.js';
import { kindOfFailed, kindOfRefused, REFUSED_WARNED } from './tiles.js';
import { timeName } from './time-range.js';
import { createTrafficCharts } from './traffic-charts.js';

const NOT_COUNTED =
  'No counts for this time: it had no requests, or fewer than those that are counted. The remembered requests are listed below.';
/** An increase that is worth a sign, which is one by half that does not start from nearly nothing. */
const GREW = 1.5;
/** An upstream may also fail a request by a 4xx, such as one about the credential of the gateway. */
const OF_UPSTREAM = '5xx, or no answer';

let subject;
let isUnknown = false;
/** The remembered requests that the gateway refused with 5xx without sending them. The counts of the upstream do not include them. */
let unsent = 0;
/** Whether the subject has become slow. */
let isSlowHere = false;
let latestCauses = [];

const charts = createTrafficCharts(place('subject-traffic'), place('subject-latency'), () => subjectIn(subject));

/** Opens the page; its contents come with the next feed and breakdown. */
export function openSubject({ view, id }) {
  subject = { view, id };
  isUnknown = false;
  unsent = 0;
  place('subject-kind').textContent = SUBJECTS[view].kind;
  place('subject-title').textContent = view === 'operations' ? operationName(id) : id;
  for (const box of ['subject-causes', 'subject-about', 'organization', 'breakdown', 'subject-tiles'])
    place(box).replaceChildren();
  place('subject-note').textContent = 'Loading …';
  place('subject-figures').hidden = false;
  for (const box of ['subject-traffic', 'subject-latency']) place(box).parentElement.hidden = true;
}

/** What needs attention comes first, because the figures below show it, but do not name it. */
function showCauses(here) {
  const next = element('ul', {}, ...here.map((cause) => attentionLine(leadingAway(cause))));
  const list = place('subject-causes');
  if (list.innerHTML !== next.innerHTML) list.replaceChildren(...next.childNodes);
}

/** Without a link to this page. */
function leadingAway(cause) {
  const { view, id } = routeIn(cause.details ?? '');
  return view === subject.view && id === subject.id ? { ...cause, details: undefined } : cause;
}

/**
 * Shows what the latest feed of another view has of the subject, until its own feed comes: causes, the state of an upstream, and the figures
 * of an operation of the first page.
 */
export function showKnown(feed) {
  const { history } = feed;
  const known = history?.operations.find(({ name }) => subject.view === 'operations' && name === subject.id);
  showSubject({ ...feed, history: known === undefined ? null : { ...history, subject: known } });
}

export function showSubject(feed) {
  if (subject === undefined) return;
  latestCauses = feed.attention;
  const here = causesHere(latestCauses);
  showCauses(here);
  isSlowHere = isSlow(here);
  if (subject.view === 'upstreams' && !isUnknown) showUpstream(feed);
  if (feed.history === null || isUnknown) return;
  const { history } = feed;
  place('subject-figures').hidden = false;
  const isCode = subject.view === 'codes';
  const known = history.subject;
  place('subject-note').textContent = known === null ? NOT_COUNTED : noteOf(history, isCode);
  place('subject-tiles').replaceChildren(
    ...(known === null ? [] : isCode ? codeTiles(history) : tilesOf(history, isSlow(here))),
    ...(known === null ? [] : unsentTile()),
  );
  place('subject-traffic').parentElement.hidden = known === null;
  place('subject-latency').hidden = isCode;
  if (known !== null) charts(feed, isCode ? asRequests(known) : known, subject.id);
}

/** No cause has a code as its page, but causes name the codes that clients get. */
function causesHere(attention) {
  if (subject.view !== 'codes') return causesAbout(attention, subject);
  return attention.filter(({ cause, consequence }) => `${cause} ${consequence}`.split(/[^\w]+/).includes(subject.id));
}

/** Returns the series of a code in the form in which charts take series of requests. All its requests have this code. */
function asRequests({ series, status }) {
  const none = series.map(() => 0);
  const unknown = series.map(() => null);
  const isServer = status === null || status >= 500;
  return {
    series: {
      ...{ requests: series, redirects: none, p50_ms: unknown, p99_ms: unknown },
      client_errors: isServer ? none : series,
      server_errors: isServer ? series : none,
    },
  };
}

function noteOf({ before_seconds: seconds, range }, isCode) {
  const compared =
    seconds > 0 ? 'Compared with the same time yesterday.' : 'There are no counts of the same time yesterday.';
  const about = ' ≈ marks estimates from counts.';
  const limit = subject.view === 'upstreams' ? ' Durations end when the upstream begins to respond.' : '';
  const now = range === 'free' ? '' : ' Large figures are of the last minute.';
  return `${compared}${isCode ? '' : now + limit + about}`;
}

function tilesOf(history, isSlowNow) {
  const { total_seconds: seconds, minute_seconds: minuteSeconds, before_seconds: beforeSeconds, slots } = history;
  const { total, minute, before, series } = history.subject;
  // Figures of the last minute are shown only if the shown time ends now.
  const isNow = history.range !== 'free';
  const perSecond = ({ requests }, over) => requests / over;
  const share = (of) => (figures) => (figures.requests === 0 ? 0 : of(figures) / figures.requests);
  const rows = [
    ['Requests', (one, over) => `${rate(perSecond(one, over))}/s`, perSecond, series.requests, {}],
    ['p50', ({ p50_ms: ms }) => quantile(ms), ({ p50_ms: ms }) => ms ?? 0, series.p50_ms, { sort: 'duration' }],
    ['p99', ({ p99_ms: ms }) => quantile(ms), ({ p99_ms: ms }) => ms ?? 0, series.p99_ms, { sort: 'duration' }],
    [
      'Failed',
      (one) => percent(one.failed, one.requests),
      share(({ failed }) => failed),
      series.failed,
      { status: 'service_failed' },
    ],
    [
      'Refused',
      (one) => percent(one.refused, one.requests),
      share(({ refused }) => refused),
      series.refused,
      { status: 'refused' },
    ],
  ];
  return rows
    .filter(([name]) => subject.view !== 'upstreams' || name !== 'Refused')
    .map(([name, text, figure, trend, params]) => {
      const [now, over] = isNow ? [minute, minuteSeconds] : [total, seconds];
      const past =
        before === null ? undefined : { text: text(before, beforeSeconds), value: figure(before, beforeSeconds) };
      const isWorse = /^p/.test(name) && past !== undefined && figure(total, seconds) > past.value * GREW;
      const isWarned = isWorse || (name === 'p99' && isSlowNow);
      const kind = kindOfHurt(name, now) ?? (isWarned ? 'warn' : undefined);
      const all = isNow ? text(total, seconds) : undefined;
      const shown = name === 'Failed' && subject.view === 'upstreams' ? OF_UPSTREAM : name;
      return tile({ name: shown, value: text(now, over), kind, all, yesterday: past?.text, trend, slots, params });
    });
}

/** An upstream that gets no request fails none, because its clients are refused before. */
function unsentTile() {
  if (subject.view !== 'upstreams' || unsent === 0) return [];
  const made = tile({ name: 'Not sent', value: count(unsent), kind: 'bad', params: { status: 'refused' } });
  made.querySelector('.soft').textContent = 'refused with 5xx, not counted as failed';
  made.classList.add('unsent');
  return [made];
}

/** Takes the count from the remembered requests, which are read apart from the figures. */
function noteUnsent({ operations }) {
  unsent = operations.reduce((sum, { unserved = 0 }) => sum + unserved, 0);
  const tiles = place('subject-tiles');
  if (tiles.children.length === 0) return;
  tiles.querySelector('.unsent')?.remove();
  tiles.append(...unsentTile());
}

/** As on the first page. A refusal with 5xx hurts clients like a failure. */
function kindOfHurt(name, { requests, failed, refused, server_errors: serverErrors }) {
  if (name === 'Failed') return kindOfFailed(failed, requests);
  return name === 'Refused' ? kindOfRefused(refused, serverErrors - failed, requests) : undefined;
}

function codeTiles({ subject: { minute, total, before, series }, slots, minute_seconds: seconds }) {
  const yesterday = before === null ? undefined : count(before);
  return [
    tile({ name: `Last ${lastSpan(seconds)}`, value: count(minute), params: {} }),
    tile({ name: 'In this time', value: count(total), yesterday, trend: series, slots, params: {} }),
  ];
}

function tile({ name, value, kind, all, yesterday, trend, slots, params }) {
  const compared = [
    ...(all === undefined ? [] : [`${timeName()} ${all}`]),
    ...(yesterday === undefined ? [] : [`yesterday ${yesterday}`]),
  ];
  const href = addressOf('requests', { ...subjectIn(subject), ...params });
  return element(
    'div',
    { class: `card tile ${kind ?? ''}`.trim() },
    element('dt', {}, link(href, name)),
    element('dd', { class: 'value' }, kind === undefined ? value : state(kind, value)),
    element('dd', { class: 'soft' }, compared.join(', ')),
    ...(trend === undefined ? [] : [element('dd', { class: 'trend' }, sparkline(trend, slots))]),
  );
}

/** Says that nothing has this name. Figures without any value would only hide that. */
export function showNothing(text, ...leads) {
  isUnknown = true;
  place('subject-figures').hidden = true;
  place('breakdown').hidden = true;
  place('subject-about').replaceChildren(element('p', { class: 'card empty' }, text, ' ', ...leads));
}

/** Answers from the contract, and of the gateway itself, are of no service that could fail. */
const isService = ({ address }) => !/^(examples|gateway):/.test(address);
const isHurt = ({ targets = [], breaker = {} }) => targets.some(isBad) || Object.values(breaker).includes('open');
const refusedLink = () => link(addressOf('requests', { ...subjectIn(subject), status: 'refused' }), 'its requests');
const isBad = (target) => TARGET_KINDS[target.state] === 'bad';

/** Shows the current state of the upstream, if possible on an instance where the upstream has a fault. */
function showUpstream({ statuses }) {
  const known = statuses.flatMap(({ instance, status }) => {
    const upstream = status?.upstreams?.[subject.id];
    return upstream === undefined ? [] : [{ instance, upstream }];
  });
  const { instance, upstream } = known.find((one) => isHurt(one.upstream)) ?? known[0] ?? {};
  if (upstream === undefined) return;
  const { targets = [], breaker = {}, credential } = upstream;
  const services = targets.filter(isService);
  const healthy = services.filter((target) => stateOfTarget(target) === 'healthy').length;
  const rowOf = (target) => [`Target, ${target.mode}`, element('span', {}, `${target.address}, `, stateOf(target))];
  const inProgress = targets.reduce((sum, { outstanding = 0 }) => sum + outstanding, 0);
  const broken = element('span', {}, state('bad', 'open'), ': the gateway answers ', refusedLink(), ' with 503');
  const next = factsCard([
    ...(statuses.length > 1 ? [['Instance', instance]] : []),
    ...targets.filter(isBad).map(rowOf),
    ...(services.length === 0 ? [] : [['Healthy targets', `${healthy} of ${services.length}`]]),
    ...targets.filter((target) => !isBad(target)).map(rowOf),
    ...Object.entries(breaker).map(([mode, known]) => [
      `Breaker, ${mode}`,
      known === 'open' ? broken : stateText(BREAKER_KINDS, known),
    ]),
    ...(credential === undefined ? [] : [['Credential', credentialState(upstream)]]),
    ['In progress', count(inProgress)],
    ['Routes', link(addressOf('routes', { find: subject.id }), 'Its operations')],
  ]);
  const box = place('subject-about');
  if (box.innerHTML !== next.outerHTML) box.replaceChildren(next);
}

/** Shows the upstream of the operation, and how to try the operation. */
function showOperation({ latest, errors }) {
  // A request that was refused early has none.
  const upstream = [...latest, ...errors].find((one) => one.upstream)?.upstream;
  if (upstream !== subject.upstream) {
    subject.upstream = upstream;
    showCauses(causesHere(latestCauses));
  }
  const [, method, path] = /^(\S+) (\/.*)$/.exec(subject.id) ?? [];
  if (path === undefined) return;
  const next = factsCard([
    ...(upstream === undefined ? [] : [['Upstream', link(addressOf('upstreams', {}, upstream), upstream)]]),
    ['Route', link(addressOf('routes', { find: path }), 'Scopes and limits')],
    ['Try', link(addressOf('explain', { method, target: path }), 'Explain a request')],
    ['Requests', link(addressOf('requests', subjectIn(subject)), 'All remembered requests')],
  ]);
  const box = place('subject-about');
  if (box.innerHTML !== next.outerHTML) box.replaceChildren(next);
}

const stateOf = (target) =>
  stateText(TARGET_KINDS, stateOfTarget(target), target.last_error ? `, ${target.last_error}` : '');

function factsCard(rows) {
  const facts = rows.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)));
  return element('dl', { class: 'facts card' }, ...facts);
}

const span = (markdown) => element('span', {}, ...piecesIn(markdown));

/** Meaning and remedy of a code. */
export function showCode(found) {
  const known = found?.catalogue;
  if (known === undefined) return;
  place('subject-about').replaceChildren(
    factsCard([
      ['Status', String(known.status)],
      ['Means', span(known.meaning)],
      ['What clients are told', span(known.remedy)],
      ['Cause lies with', known.place],
    ]),
  );
}

const PARTS = [
  { member: 'codes', of: 'codes', title: 'Errors by code', name: 'Code', view: 'codes' },
  {
    member: 'organizations',
    of: 'organizations',
    title: 'Callers',
    name: 'Organization or address',
    view: 'organizations',
  },
  { member: 'operations', of: 'operations', title: 'Operations', name: 'Operation', view: 'operations' },
];

/** @returns a function that shows what the gateway counted among the remembered requests */
export function createBreakdown() {
  const box = place('breakdown');
  box.hidden = false;
  const parts = PARTS.filter(({ of }) => of !== subject.view);
  const places = parts.map(() => element('div'));
  const errors = element('div');
  const slowest = element('div');
  const latest = element('div');
  const reach = element('p', { class: 'soft wide' });
  box.replaceChildren(
    ...parts.map(({ title }, index) => element('section', {}, element('h3', {}, title), places[index])),
    element('section', { class: 'wide slowest' }, element('h3', {}, 'Slowest remembered requests'), slowest),
    element('section', { class: 'wide' }, element('h3', {}, 'Latest failures and refusals'), errors),
    element('section', { class: 'wide' }, element('h3', {}, 'Latest requests'), latest),
    reach,
  );
  const shows = parts.map((part, index) => partTable(places[index], part));
  const without = [SUBJECTS[subject.view].member].filter((name) => name !== 'upstream');
  const listOf = (container, caption, sort) =>
    exchangeTable(container, { caption, empty: 'None remembered.', without, sort });
  const showErrors = listOf(errors, 'Latest requests that failed or were refused');
  const showSlowest = listOf(slowest, 'Slowest remembered requests', { key: 'duration', descending: true });
  const showLatest = listOf(latest, 'Latest requests');
  return (found) => {
    for (const [index, { member }] of parts.entries()) {
      shows[index](found[member]);
      // Without requests the sentence at the end says all.
      places[index].parentElement.hidden = found.requests === 0;
    }
    if (subject.view === 'operations') showOperation(found);
    noteUnsent(found);
    errors.parentElement.hidden = found.errors.length === 0;
    showErrors(found.errors);
    // They come first where the service has become slow, and elsewhere say nothing new.
    const slow = isSlowHere ? found.slowest : [];
    slowest.parentElement.hidden = slow.length === 0;
    showSlowest(slow);
    // Where everything fails, both lists may be one.
    const listed = new Set(found.errors.map(({ request_id: id }) => id));
    latest.parentElement.hidden = found.latest.every(({ request_id: id }) => listed.has(id));
    showLatest(found.latest);
    const { requests, since, errors_since: errorsSince } = found;
    const back = since === null ? '' : ` since ${moment(since)}`;
    const backOfErrors = errorsSince < since ? `, and errors since ${moment(errorsSince)}` : '';
    if (found.requests === 0) reach.textContent = 'No request of this time is remembered.';
    else
      reach.textContent = `Based on ${count(requests)} remembered requests${back}${errorsSince ? backOfErrors : ''}. Not all successful requests are remembered.`;
  };
}

function partTable(container, { title, name, view }) {
  const isCallers = view === 'organizations';
  const hrefOf = ({ name: id, client }) => (client ? addressOf('requests', { client: id }) : addressOf(view, {}, id));
  const number = (key, label, of) => ({ key, label, numeric: true, cell: of, value: (row) => row[key] });
  return createTable(container, {
    caption: title,
    empty: view === 'codes' ? 'No error is remembered.' : 'None remembered.',
    keyOf: (row) => row.name,
    hrefOf,
    sort: { key: 'requests', descending: true },
    columns: [
      {
        key: 'name',
        label: name,
        cell: (row) => (view === 'operations' ? operationName(row.name) : row.name),
        value: (row) => row.name,
      },
      number('requests', 'Requests', (row) => count(row.requests)),
      ...(view === 'codes' ? [] : [number('failed', 'Failed', (row) => bad(row.failed))]),
      ...(view === 'codes' ? [] : [number('refused', 'Refused', (row) => refusedText(row, isCallers))]),
    ],
  });
}

const bad = (number) => (number === 0 ? '0' : state('bad', count(number)));

/** The share says whether a caller is in trouble. */
function refusedText({ refused, unserved = 0, requests }, isCallers) {
  if (unserved > 0) return state('bad', `${count(refused)}, ${count(unserved)} with 5xx`);
  if (refused === 0 || !isCallers) return count(refused);
  const text = `${count(refused)}, ${percent(refused, requests)}`;
  return state(refused > REFUSED_WARNED * requests ? 'warn' : undefined, text);
}
