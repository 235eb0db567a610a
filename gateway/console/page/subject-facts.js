// The facts about a subject, in a card: the state of an upstream, the upstream of an operation, the meaning of an error code.

import { addressOf } from './addresses.js';
import { element, link, place, signed } from './elements.js';
import { count } from './format.js';
import { piecesIn } from './runbook.js';
import { BREAKER_KINDS, credentialState, stateOfTarget, stateText, TARGET_KINDS } from './states.js';

/** Targets for answers from the contract, or of the gateway itself, are no service that could fail. */
const isService = ({ address }) => !/^(examples|gateway):/.test(address);
const isHurt = ({ targets = [], breaker = {} }) => targets.some(isBad) || Object.values(breaker).includes('open');
const isBad = (target) => TARGET_KINDS[target.state] === 'bad';

/** Shows the current state of the upstream, if possible on an instance where the upstream has a fault. */
export function showUpstream({ statuses }, name) {
  const known = statuses.flatMap(({ instance, status }) => {
    const upstream = status?.upstreams?.[name];
    return upstream === undefined ? [] : [{ instance, upstream }];
  });
  const { instance, upstream } = known.find((one) => isHurt(one.upstream)) ?? known[0] ?? {};
  if (upstream === undefined) return;
  const { targets = [], breaker = {}, credential } = upstream;
  const services = targets.filter(isService);
  const healthy = services.filter((target) => stateOfTarget(target) === 'healthy').length;
  const rowOf = (target) => [`Target, ${target.mode}`, element('span', {}, `${target.address}, `, stateOf(target))];
  const inProgress = targets.reduce((sum, { outstanding = 0 }) => sum + outstanding, 0);
  const broken = element(
    'span',
    {},
    signed('bad', 'open'),
    ': the gateway answers ',
    link(addressOf('requests', { upstream: name, status: 'refused' }), 'its requests'),
    ' with 503',
  );
  showFacts([
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
    ['Routes', link(addressOf('routes', { find: name }), 'Its operations')],
  ]);
}

/** Shows the upstream of the operation, and how to try the operation. */
export function showOperation(upstream, operation) {
  const [, method, path] = /^(\S+) (\/.*)$/.exec(operation) ?? [];
  if (path === undefined) return;
  showFacts([
    ...(upstream === undefined ? [] : [['Upstream', link(addressOf('upstreams', {}, upstream), upstream)]]),
    ['Route', link(addressOf('routes', { find: path }), 'Scopes and limits')],
    ['Try', link(addressOf('explain', { method, target: path }), 'Explain a request')],
    ['Requests', link(addressOf('requests', { operation }), 'All remembered requests')],
  ]);
}

const stateOf = (target) =>
  stateText(TARGET_KINDS, stateOfTarget(target), target.last_error ? `, ${target.last_error}` : '');

/** Shows the facts, and leaves the focus and a selection where they are if nothing has changed. */
function showFacts(rows) {
  const facts = rows.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)));
  const next = element('dl', { class: 'facts card' }, ...facts);
  const box = place('subject-about');
  if (box.innerHTML !== next.outerHTML) box.replaceChildren(next);
}

const span = (markdown) => element('span', {}, ...piecesIn(markdown));

/** Shows the meaning and the remedy of a code. */
export function showCode(found) {
  const known = found?.catalogue;
  if (known === undefined) return;
  showFacts([
    ['Status', String(known.status)],
    ['Means', span(known.meaning)],
    ['What clients are told', span(known.remedy)],
    ['Cause lies with', known.place],
  ]);
}
