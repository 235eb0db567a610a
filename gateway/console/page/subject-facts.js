// The facts about a subject, in a card: the state of an upstream, the upstream of an operation, the meaning of an error code.

import { addressOf } from './addresses.js';
import { element, factsIn, link, linkTo, place, refill, signed } from './elements.js';
import { count } from './format.js';
import { piecesIn } from './runbook.js';
import { BREAKER_KINDS, credentialState, stateOfTarget, stateText, TARGET_KINDS } from './states.js';
import { ofAll, sumOf, targetRows } from './system-table.js';

/** Targets for answers from the contract, or of the gateway itself, are no service that could fail. */
const isService = ({ address }) => !/^(examples|gateway):/.test(address);
const isBad = (target) => TARGET_KINDS[target.state] === 'bad';

/** Adds the instance to the name of a fact, because instances may reach an upstream differently. */
const named = (name, { instance }) =>
  instance === '' ? name : `${name}, ${instance === 'all' ? 'all instances' : instance}`;

/** Shows the current state of the upstream: one line for all instances if they are alike, otherwise one for each. */
export function showUpstream(feed, name) {
  const targets = targetRows(feed).filter(({ upstream }) => upstream === name);
  if (targets.length === 0) return;
  const ofUpstream = (rowsOf, keyOf) => ofAll(({ upstreams = {} }) => rowsOf(upstreams[name] ?? {}), keyOf)(feed);
  const breakers = ofUpstream(
    ({ breaker = {} }) => Object.entries(breaker).map(([mode, state]) => ({ mode, state })),
    ({ mode }) => mode,
  );
  const credentials = ofUpstream(
    ({ credential, credential_fault }) => (credential === undefined ? [] : [{ credential, credential_fault }]),
    () => '',
  );
  const services = [...Map.groupBy(targets.filter(isService), ({ mode, address }) => `${mode} ${address}`).values()];
  const healthy = services.filter((rows) => rows.every((target) => stateOfTarget(target) === 'healthy')).length;
  const rowOf = (target) => [
    named(`Target, ${target.mode}`, target),
    element('span', {}, `${target.address}, `, stateOf(target)),
  ];
  const broken = () =>
    element(
      'span',
      {},
      signed('bad', 'open'),
      ': the gateway answers ',
      link(addressOf('requests', { upstream: name, status: 'refused' }), 'its requests'),
      ' with 503',
    );
  showFacts([
    ...targets.filter(isBad).map(rowOf),
    ...(services.length === 0 ? [] : [['Healthy targets', `${healthy} of ${services.length}`]]),
    ...targets.filter((target) => !isBad(target)).map(rowOf),
    ...breakers.map((one) => [
      named(`Breaker, ${one.mode}`, one),
      one.state === 'open' ? broken() : stateText(BREAKER_KINDS, one.state),
    ]),
    ...credentials.map((one) => [named('Credential', one), credentialState(one)]),
    ['In progress', count(sumOf(targets.map(({ outstanding }) => outstanding)))],
    ['Routes', link(addressOf('routes', { find: name }), 'Its operations')],
  ]);
}

/** Shows the upstream of the operation, and how to try the operation. */
export function showOperation(upstream, operation) {
  const [, method, path] = /^(\S+) (\/.*)$/.exec(operation) ?? [];
  if (path === undefined) return;
  showFacts([
    ...(upstream === undefined ? [] : [['Upstream', linkTo('upstreams', upstream)]]),
    ['Route', link(addressOf('routes', { find: path }), 'Scopes and limits')],
    ['Try', link(addressOf('explain', { method, target: path }), 'Explain a request')],
    ['Requests', link(addressOf('requests', { operation }), 'All remembered requests')],
  ]);
}

const stateOf = (target) =>
  stateText(TARGET_KINDS, stateOfTarget(target), target.last_error ? `, ${target.last_error}` : '');

/** Shows the facts, and leaves the focus and a selection where they are if nothing has changed. */
function showFacts(rows) {
  refill(place('subject-about'), element('div', {}, factsIn(rows)));
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
