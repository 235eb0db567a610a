// The last requests of a key or an organization, all or some; opening one asks for its explanation.

import { adviceElement, errorPage, inlineNodes, safeAddress } from './account-advice.js';
import { isAddressable, isWorthALook, listOf, timeOfDay } from './account-figures.js';
import { operationLink, titleOf } from './account-operations.js';
import { element } from './page-tools.js';

/** Requests that one press of the button adds. */
const SHOWN = 10;
/** Answers that are read for them: of a long list, most may be requests of this page. */
const PAGES_MAX = 5;
const PAGE = 100;

/** The filters of the list: the values of `status` of the operation `listRequests`. */
export const REQUEST_FILTERS = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['2xx', '2xx'],
  ['4xx', '4xx'],
  ['5xx', '5xx'],
];

/**
 * The list, with a button for more of it. The first requests are read before it returns.
 *
 * @param status one of the filters
 */
export async function recentRequests(api, { nowMs, status }) {
  const next = reader(api, status);
  const list = element('ul', { class: 'account-list' });
  const place = element('div', {});

  async function showMore() {
    const { requests, hasMore } = await next();
    list.append(...requests.map((request) => element('li', {}, requestElement(api, request, nowMs))));
    const button = element('button', { type: 'button' }, 'Show more');
    button.addEventListener('click', press);
    place.replaceChildren(...(hasMore ? [button] : []));
  }

  async function press() {
    const before = list.children.length;
    try {
      await showMore();
      (list.children[before] ?? list.lastChild)?.querySelector('summary').focus();
    } catch (error) {
      if (error.name !== 'AbortError') place.replaceChildren(adviceElement(error, press));
    }
  }

  await showMore();
  if (list.children.length > 0 || place.children.length > 0) return [list, place];
  const none =
    status === ''
      ? 'The gateway remembers no requests.'
      : 'None of the requests that the gateway remembers is of this kind.';
  return [element('p', {}, `${none} It remembers them for minutes to hours.`)];
}

/** Returns a function that reads the next page. After a refusal, it reads the same page again. */
function reader(api, status) {
  let read = [];
  let cursor;
  let hasMore = true;
  return async function next() {
    for (let pages = 0; hasMore && read.length <= SHOWN && pages < PAGES_MAX; pages += 1) {
      const query = { status: status || undefined, limit: String(PAGE), cursor };
      const { value } = await api.get('/requests', Object.entries(query));
      read = [...read, ...listOf(value.data).filter(isWorthALook)];
      cursor = value.cursor ?? undefined;
      hasMore = value.has_more === true && cursor !== undefined;
    }
    const requests = read.slice(0, SHOWN);
    read = read.slice(SHOWN);
    return { requests, hasMore: hasMore || read.length > 0 };
  };
}

/**
 * The explanation of one request.
 *
 * @throws a refusal; if the gateway does not know the request, the refusal names its id
 */
export async function fetchExplanation(api, id) {
  try {
    return (await api.get(`/requests/${encodeURIComponent(id)}`)).value;
  } catch (error) {
    if (error.code === 'resource_missing') error.unknownRequest = id;
    throw error;
  }
}

function requestElement(api, request, nowMs) {
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
    ...(status < 400
      ? []
      : [element('strong', {}, code ?? (status === CLIENT_LEFT ? 'ended by its client' : 'no code')), ' ']),
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
      place.replaceChildren(...explanationElements(await fetchExplanation(api, id), request));
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

/** The status of a request that its client has ended before the response. */
const CLIENT_LEFT = 499;

const SIGNS = { passed: '✓', refused: '✕', answered: '●' };

function stageElement({ stage, outcome, facts, duration_ms: ms }) {
  const kind = Object.hasOwn(SIGNS, outcome) ? outcome : 'unreached';
  const took = Number.isFinite(ms) ? ` · ${ms < 10 ? Number(ms.toFixed(2)) : Math.round(ms)} ms` : '';
  return element(
    'div',
    { class: `stage ${kind}` },
    element(
      'p',
      {},
      element('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[outcome] ?? '–'),
      ' ',
      element('strong', {}, String(stage)),
      ` ${outcome}${took}`,
    ),
    ...(listOf(facts).length > 0 ? [element('ul', {}, ...facts.map((fact) => element('li', {}, String(fact))))] : []),
  );
}
