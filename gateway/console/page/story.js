// The story of one exchange, stage by stage: the same as `bin/gateway explain` tells.

import { addressOf } from './addresses.js';
import { read } from './api.js';
import { commandLine, element, emptyCard, factsIn, link, linkTo, outcomeOf, place, signed } from './elements.js';
import {
  clockWithMilliseconds,
  day,
  duration,
  NONE,
  operationName,
  partsOf,
  timeElement,
  withTimes,
} from './format.js';
import { showNextSteps } from './next-steps.js';

const OUTCOME_MARKS = { passed: 'good', answered: 'good', 'not reached': 'off', 'not tried': 'off' };

/**
 * Shows the exchanges with this id; a client may have used it more than once.
 *
 * @param isSearched whether nothing else matches it, either
 */
export async function showStory(id, isSearched) {
  const box = place('story');
  box.replaceChildren(emptyCard('Looking …'));
  const found = await read(`exchanges/${encodeURIComponent(id)}`);
  const stories = found?.exchanges ?? [];
  if (stories.length > 0) box.replaceChildren(...stories.map(storyOf));
  else box.replaceChildren(isSearched ? nothing(id) : unknown(id));
}

function nothing(text) {
  return element(
    'div',
    { class: 'card' },
    element('h2', {}, `Nothing matches ${text}`),
    element(
      'p',
      {},
      'Searched: the requests that the instances remember, organizations, keys, upstreams, error codes and operations. A request that is not remembered may be in the log.',
    ),
    element('p', {}, link(addressOf('requests'), 'Recent requests')),
  );
}

function unknown(id) {
  return element(
    'div',
    { class: 'card' },
    element('h2', {}, 'This request is not remembered'),
    element('p', {}, `No instance remembers ${id} any more. The log may still have it:`),
    ...(/^[A-Za-z0-9._-]{1,128}$/.test(id) ? [commandLine(`bin/gateway explain ${id} --log access.ndjson`)] : []),
    element('p', {}, link(addressOf('requests'), 'Recent requests')),
  );
}

function storyOf({ request_id: id, time, verdict, stages, record, refused, next }) {
  const told = { ...record, refused, broken: record.answer_violations !== undefined };
  const [kind = 'good'] = outcomeOf(told);
  return element(
    'article',
    { class: 'story' },
    element('p', { class: `verdict ${kind}` }, signed(kind, withTimes(verdict))),
    factsOf(id, time, record),
    ...(record.code === undefined ? timeOf(record, stages) : nextStepsOf(record, next)),
    element('h3', {}, 'Stage by stage'),
    stagesOf(stages, told),
    element('details', {}, element('summary', {}, 'The decision record'), preOf(record)),
    element('h3', {}, 'On the command line'),
    ...[`bin/gateway explain ${id}`, ...(next?.commands ?? [])].map((line) => commandLine(line)),
  );
}

export function stagesOf(stages, record) {
  return element('ol', { class: 'stages' }, ...stages.map((stage) => stageOf(stage, record)));
}

/** The section on the time needs a question to the gateway, and stays empty if the request was not slow. */
function timeOf(record, stages) {
  if (record.route === undefined || record.duration_ms === undefined) return [];
  const section = element('section');
  void import('./slow-answer.js').then(({ showTime }) => showTime(section, record, stages)).catch(() => undefined);
  return [section];
}

/** The next steps need a question to the gateway, and are shown when it is answered. */
function nextStepsOf(record, next) {
  if (next === undefined) return [];
  const list = element('ul', { class: 'steps card' });
  void showNextSteps(list, record, next).catch(() => undefined);
  return [element('h3', {}, 'Next'), list];
}

function factsOf(id, time, record) {
  const {
    status,
    code,
    organization,
    key_id: key,
    route,
    method,
    path,
    upstream,
    target,
    client,
    duration_ms: all,
  } = record;
  const at =
    time === undefined
      ? NONE
      : timeElement(time, `${day(Date.parse(time))}, ${clockWithMilliseconds(Date.parse(time))}`);
  return factsIn([
    ['Request', element('code', {}, id)],
    ['Time', at],
    ['Status', code === undefined ? String(status) : linkTo('codes', code, `${status} ${code}`)],
    [
      'Operation',
      route === undefined
        ? link(addressOf('requests', { operation: `${method} unmatched` }), operationName(`${method} unmatched`))
        : linkTo('operations', `${method} ${route}`),
    ],
    ...(path === undefined ? [] : [['Path', element('code', {}, `${method} ${path}`)]]),
    ['Organization', organization === undefined ? NONE : linkTo('organizations', organization)],
    ['Key', key ?? NONE],
    ['Client', client === undefined ? NONE : link(addressOf('requests', { client }), client)],
    [
      'Upstream',
      upstream === undefined
        ? NONE
        : linkTo('upstreams', upstream, target === undefined ? upstream : `${upstream}, ${target}`),
    ],
    ['Duration', [duration(all), partsText(record)].filter((text) => text).join(': ')],
  ]);
}

function partsText(record) {
  const { own, upstream, transfer } = partsOf(record);
  if (upstream === undefined) return '';
  const sent = transfer === undefined ? '' : `, transfer ${duration(transfer)}`;
  return `gateway${transfer === undefined ? ' and transfer' : ''} ${duration(own)}, upstream ${duration(upstream)}${sent}`;
}

/** Returns the colour and the word of a stage in which the service failed, or the gateway refused the request. */
function stageOutcome({ outcome }, record) {
  if (outcome !== 'refused') return [OUTCOME_MARKS[outcome], outcome === 'answered' ? 'responded' : outcome];
  const [kind, word] = outcomeOf(record);
  return kind === undefined ? ['warn', 'refused'] : [kind, word];
}

/** Writes a time with milliseconds, because the stages of a request follow each other within a few milliseconds. */
const exactTime = (iso) => clockWithMilliseconds(Date.parse(iso));

function stageOf(stage, record) {
  const { stage: name, told, duration_ms: ms } = stage;
  const all = record.duration_ms ?? 0;
  const [kind, word] = stageOutcome(stage, record);
  const bar = element('span', { class: 'bar', 'aria-hidden': 'true', hidden: ms === undefined ? '' : undefined });
  if (ms !== undefined) bar.style.width = `${Math.min(100, (100 * ms) / Math.max(all, 0.001))}%`;
  return element(
    'li',
    { class: `stage ${kind}` },
    element('span', { class: 'name' }, name),
    element('span', { class: 'outcome' }, signed(kind, word)),
    element('span', { class: 'took' }, ms === undefined ? '' : duration(ms), bar),
    element('ul', { class: 'told' }, ...told.map((line) => element('li', {}, withTimes(line, exactTime)))),
  );
}

function preOf(record) {
  return element('pre', { tabindex: '0' }, JSON.stringify(record, null, 2));
}
