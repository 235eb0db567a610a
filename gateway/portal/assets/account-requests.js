// The last requests of an organization that failed; opening one asks for its explanation.

import { adviceElement, errorPage, inlineNodes, safeAddress } from './account-advice.js';
import { isAddressable, listOf, timeOfDay } from './account-figures.js';
import { operationLink, titleOf } from './account-operations.js';
import { element } from './page-tools.js';

export function failedRequests(api, requests, { nowMs }) {
  if (requests.length === 0)
    return element(
      'p',
      {},
      'None of the requests that the gateway remembers has failed. It remembers them for minutes to hours.',
    );
  return element(
    'ul',
    { class: 'account-list' },
    ...requests.map((request) => element('li', {}, failedRequest(api, request, nowMs))),
  );
}

function failedRequest(api, request, nowMs) {
  const { request_id: id, at, method, path, operation_id: operation, status, code } = request;
  const time = element(
    'time',
    { datetime: String(at), title: String(at), class: 'account-soft' },
    timeOfDay(at, nowMs),
  );
  const summary = element(
    'summary',
    {},
    element('span', { class: `status s${String(status)[0]}` }, String(status)),
    ' ',
    element('strong', {}, code ?? 'no code'),
    ' ',
    element(
      'span',
      { class: 'request-what' },
      operation ? titleOf(operation) : `${method} ${path ?? 'a path of no operation'}`,
    ),
    ' ',
    time,
  );
  const place = element('div', { class: 'explanation' });
  const details = element('details', { class: 'answer' }, summary, place);
  let isAsked = false;

  async function ask() {
    if (!isAddressable(id))
      return place.replaceChildren(element('p', {}, 'A request with this id cannot be asked for.'));
    place.replaceChildren(element('p', {}, 'Asking…'));
    try {
      const { value } = await api.get(`/requests/${encodeURIComponent(id)}`);
      place.replaceChildren(...explanationElements(value, request));
    } catch (error) {
      if (error.name === 'AbortError') return;
      isAsked = false;
      place.replaceChildren(adviceElement(error, ask));
    }
  }

  details.addEventListener('toggle', () => {
    if (!details.open || isAsked) return;
    isAsked = true;
    ask();
  });
  return details;
}

export function explanationElements(
  { verdict, remedy, stages, doc_url: docUrl },
  { request_id: id, method, path, code, operation_id: operation },
) {
  const all = listOf(stages);
  const deciding = all.filter(({ outcome }) => outcome === 'refused' || outcome === 'answered');
  const doc = safeAddress(docUrl) ?? (code ? errorPage(code) : undefined);
  const parts = [
    element('p', {}, String(verdict ?? '')),
    ...(remedy ? [element('p', {}, element('strong', {}, 'What to do: '), ...inlineNodes(String(remedy)))] : []),
    ...deciding.map(stageElement),
  ];
  const links = [
    ...(doc ? [element('a', { href: doc }, `About ${code ?? 'this response'}`)] : []),
    ...(operation ? [element('span', {}, 'Operation ', operationLink(operation))] : []),
    element('span', {}, 'Request id ', element('code', {}, String(id))),
    element('span', {}, element('code', {}, `${method} ${path ?? ''}`)),
  ];
  parts.push(element('p', { class: 'account-facts' }, ...links));
  const list = element('ol', { class: 'stages' }, ...all.map((stage) => element('li', {}, stageElement(stage))));
  parts.push(element('details', { class: 'nested' }, element('summary', {}, `All stages (${all.length})`), list));
  return parts;
}

const signs = { passed: '✓', refused: '✕', answered: '●' };

function stageElement({ stage, outcome, facts, duration_ms: ms }) {
  const kind = Object.hasOwn(signs, outcome) ? outcome : 'unreached';
  const took = Number.isFinite(ms) ? ` · ${ms < 10 ? Number(ms.toFixed(2)) : Math.round(ms)} ms` : '';
  return element(
    'div',
    { class: `stage ${kind}` },
    element(
      'p',
      {},
      element('span', { class: 'sign', 'aria-hidden': 'true' }, signs[outcome] ?? '–'),
      ' ',
      element('strong', {}, String(stage)),
      ` ${outcome}${took}`,
    ),
    ...(listOf(facts).length > 0 ? [element('ul', {}, ...facts.map((fact) => element('li', {}, String(fact))))] : []),
  );
}
