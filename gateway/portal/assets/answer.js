// The answer to a request that was sent from a page: status, coloured body with links, headers.

import { highlight } from './code/highlight.ts';
import { escapeHtml } from './code/html.ts';
import { element, explanationAddress } from './page-tools.js';
import { reasonLine, refusalIn } from './refusal.js';
import { followStream } from './stream.js';

const SHOWN_MAX = 200_000;

/**
 * Shows an answer. Returns the refusal, or undefined if the answer is none.
 *
 * @param way how long the answer took, whether it is an example of the contract if it is not a refusal, and the text that was sent
 */
export async function showAnswer(place, answer, way) {
  if (isStream(answer)) return showStream(place, answer, way);
  const { text, language } = await contentOf(answer);
  const body = codeElement(
    'Body of the response',
    linkAddresses(highlight(text.slice(0, SHOWN_MAX) || 'No body.', language)),
  );
  const refusal = answer.status < 400 ? undefined : refusalIn(text, way.sent);
  const reason = refusal === undefined ? [] : [reasonLine(refusal)];
  const status = statusLine(answer, way);
  place.replaceChildren(status, ...reason, element('div', { class: 'block' }, body), headersOf(answer));
  return refusal;
}

function isStream({ headers }) {
  return /event-stream|ndjson|jsonl|json-seq/.test(headers.get('content-type') ?? '');
}

/** Shows the parts of a stream when they arrive, until the reader stops it. */
function showStream(place, answer, way) {
  const body = codeElement('Body of the response', '');
  const follow = followStream(answer, body.querySelector('code'), SHOWN_MAX);
  const status = statusLine(answer, way);
  place.replaceChildren(status, follow, element('div', { class: 'block' }, body), headersOf(answer));
  return undefined;
}

function statusLine(answer, { durationMs, isExample }) {
  const id = answer.headers.get('x-request-id');
  return element(
    'p',
    { class: 'try-status' },
    element('span', { class: `status s${String(answer.status)[0]}` }, `${answer.status} ${answer.statusText}`),
    element('span', {}, `${Math.round(durationMs)} ms`),
    ...(isExample && answer.status < 400 ? [element('span', {}, 'Example of the contract')] : []),
    ...(id === null ? [] : [idElement(id)]),
  );
}

function headersOf(answer) {
  const lines = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return element(
    'details',
    { class: 'nested' },
    element('summary', {}, 'Headers'),
    codeElement('Headers of the response', escapeHtml(lines)),
  );
}

function idElement(id) {
  const href = explanationAddress(id);
  return href === undefined ? element('code', {}, id) : element('a', { href }, element('code', {}, id));
}

/** @param html of text that was escaped */
function codeElement(label, html) {
  const code = element('code', {});
  code.innerHTML = html;
  const block = element('div', { class: 'code', role: 'group', 'aria-label': label, tabindex: '0' });
  block.append(element('pre', {}, code));
  return block;
}

/**
 * Addresses among the values of JSON become links, request ids lead to their explanation, error codes to their pages. Takes and gives HTML.
 */
function linkAddresses(html) {
  const addresses = withCodes(html).replace(
    /(<span class="s">&quot;)(https?:\/\/[^\s<>\\]{1,2000}?)(&quot;<\/span>)/g,
    (_, before, address, after) => `${before}<a href="${address}" rel="noreferrer">${address}</a>${after}`,
  );
  return addresses.replace(
    /(&quot;request_id&quot;<\/span>: <span class="s">&quot;)([\w-]{1,128})(&quot;)/g,
    (whole, before, id, after) => {
      const href = explanationAddress(id);
      return href === undefined ? whole : `${before}<a href="${href}">${id}</a>${after}`;
    },
  );
}

/** Adds links to codes. `doc_url` names the page of the code, which also explains the codes in `errors`. */
function withCodes(html) {
  const [, page, code] = /&quot;https?:\/\/[^\s<>\\]*?(\/docs\/errors\/(\w+))&quot;/.exec(html) ?? [];
  if (page === undefined) return html;
  return html.replace(
    /(&quot;code&quot;<\/span>: <span class="s">&quot;)(\w+)(&quot;)/g,
    (whole, before, name, after) => {
      if (name !== code && code !== 'validation_failed') return whole;
      return `${before}<a href="${page}${name === code ? '' : `#${name}`}">${name}</a>${after}`;
    },
  );
}

async function contentOf(answer) {
  const type = answer.headers.get('content-type') ?? '';
  if (!/json|text|xml|yaml|urlencoded/.test(type) && type !== '') {
    const { size } = await answer.blob();
    return { text: `${size} bytes of ${type}`, language: 'text' };
  }
  const text = await answer.text();
  return /json/.test(type) ? { text: indent(text), language: 'json' } : { text, language: 'text' };
}

function indent(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
