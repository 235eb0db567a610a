// Advice about a refusal: a title, sentences, the request id, and a link to the page that explains the code.

import { element } from './page-tools.js';

/** The form of keys and tokens, which a header can contain. */
const KEY_FORM = /^[A-Za-z0-9._~+/=-]{8,4096}$/;

/** Finds the key in a pasted text. Returns the key, or the problem. */
export function readKey(pasted) {
  const key = pasted.trim().replace(/^Bearer\s+/i, '');
  if (key === '') return { problem: 'Paste a key first.' };
  if (!KEY_FORM.test(key)) return { problem: 'This is not a whole key.' };
  return { key };
}

/** Pure. `isSafeToRepeat`: the same request may be sent again. */
export function adviceOn(refusal) {
  const { status, code, message, retryAfterSeconds, unknownRequest } = refusal;
  const [title, ...sentences] = textsFor(refusal);
  const isSafeToRepeat = status < 400 || status === 429 || status >= 500 || refusal.isRetryable;
  const doc = safeAddress(refusal.docUrl) ?? (code && status >= 400 ? errorPage(code) : undefined);
  return {
    title,
    sentences: sentences.filter(Boolean),
    message: unknownRequest === undefined ? message : undefined,
    code,
    // The request that the reader asked about, not the look-up.
    requestId: unknownRequest ?? refusal.requestId,
    doc,
    isSafeToRepeat,
    retryAfterSeconds,
  };
}

function textsFor({ status, code, requiredScopes, retryAfterSeconds, unknownRequest }) {
  if (status === 0)
    return [
      'The gateway does not respond.',
      'Check your connection, then try again. If others cannot reach it either, wait a little.',
    ];
  if (code === 'unreadable_answer')
    return [
      'The response cannot be read.',
      'Something between this page and the gateway may have answered, such as a proxy or a login page.',
    ];
  if (status === 401)
    return [
      'This key is not accepted.',
      'Paste the whole key. If it was revoked or has ended, use the one that replaced it.',
    ];
  if (code === 'insufficient_scope') {
    const scopes = requiredScopes.length > 0 ? requiredScopes.join(', ') : 'another scope';
    return [
      `This key lacks ${scopes}.`,
      'The scope * does not include it: the key has to name it. Use a key that has it, or ask an operator for one.',
    ];
  }
  if (code === 'grant_not_held') {
    const lacking = requiredScopes.length > 0 ? `It lacks ${requiredScopes.join(', ')}. ` : '';
    return ['A key gives at most what it holds itself.', `${lacking}Ask for less, or use a key that holds all of it.`];
  }
  if (code === 'key_mode_mismatch')
    return ['This is a test key.', 'These operations take live keys only: paste one that begins with sk_live_.'];
  if (code === 'ip_not_allowed')
    return [
      'This key may not be used from where you are.',
      'Use it from one of its addresses, or paste a key without this restriction.',
    ];
  if (status === 429) {
    const when = retryAfterSeconds === undefined ? 'Wait a little' : `Wait ${secondsText(retryAfterSeconds)}`;
    return [
      'A limit is used up.',
      `${when}, then try again. Nothing was done, and the refused request does not count.`,
    ];
  }
  if (code === 'last_key')
    return [
      'This is the last key that works.',
      'Without it your organization cannot call this API, and only an operator can create another one.',
    ];
  if (status === 412) return ['This has changed in the meantime.', 'Look at it again, then decide.'];
  if (unknownRequest !== undefined)
    return [
      'The gateway has no such request for this key.',
      'Its path or its key was not accepted: paste the whole error to read what it says. Or it is older than what is remembered, which is minutes to hours. Or another key sent it: a key without gateway:read sees its own requests only.',
    ];
  if (code === 'resource_missing') return ['This is not there any more.', 'Load the page again.'];
  if (code === 'route_not_found') return ['This gateway does not offer this now.', 'Load the page again.'];
  if (code === 'idempotency_outcome_unknown')
    return ['It is not known whether this was done.', 'Close this and look at the list before you do it again.'];
  if (status >= 500)
    return ['The gateway could not do this.', 'It is no fault of yours. Wait a little, then try again.'];
  if (status === 403) return ['This key may not do this.'];
  return ['This was refused.'];
}

export function secondsText(seconds) {
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  if (seconds < 7200) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.ceil(seconds / 3600)} hours` : `${Math.ceil(seconds / 86_400)} days`;
}

/** An address that a link may have. Undefined for every scheme but HTTP. */
export function safeAddress(text) {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

/** The page of this documentation for an error code. */
export function errorPage(code) {
  return /^[a-z0-9_]{1,64}$/.test(code) ? `/docs/errors/${code}` : undefined;
}

/** A text with code and links in Markdown, as texts of the error catalogue have. Everything else in it stays text. */
export function inlineNodes(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(/`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)/g)) {
    const [whole, code, label, target] = match;
    const address = code === undefined ? safeAddress(target) : undefined;
    nodes.push(text.slice(end, match.index));
    if (code !== undefined) nodes.push(element('code', {}, code));
    else nodes.push(address === undefined ? whole : element('a', { href: address }, label));
    end = match.index + whole.length;
  }
  return [...nodes, text.slice(end)];
}

/** The advice as an element; `again` is a function that tries again. */
export function adviceElement(refusal, again) {
  const advice = adviceOn(refusal);
  const { title, sentences, message, code, requestId, doc, isSafeToRepeat } = advice;
  const details = refusal.violations.map(({ param, message: text }) =>
    element('li', {}, ...(param ? [element('code', {}, String(param)), ' '] : []), String(text ?? '')),
  );
  const facts = [];
  if (code && refusal.status > 0) facts.push(doc ? element('a', { href: doc }, code) : element('code', {}, code));
  if (requestId) facts.push(element('span', {}, 'Request id ', element('code', {}, requestId)));
  const made = element(
    'div',
    { class: 'account-advice', role: 'alert' },
    element('p', {}, element('strong', {}, title), ' ', sentences.join(' ')),
    ...(message && refusal.status > 0 ? [element('p', { class: 'account-soft' }, ...inlineNodes(message))] : []),
    ...(details.length > 0 ? [element('ul', {}, ...details)] : []),
    ...(facts.length > 0 ? [element('p', { class: 'account-facts' }, ...facts)] : []),
  );
  if (again !== undefined && isSafeToRepeat) {
    const button = element('button', { type: 'button' }, 'Try again');
    button.addEventListener('click', again);
    made.append(element('p', {}, button));
  }
  return made;
}
