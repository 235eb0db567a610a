// Creates elements. Text is always inserted as text, never as markup, because names, paths and ids come from clients.

import { pageOf } from './addresses.js';

export const place = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const link = (href, ...children) => element('a', { href }, ...children);

/** Makes a link to the page about one thing, such as an organization. */
export const linkTo = (view, id, text = id) => link(pageOf(view, id), text);

/** Makes a list of facts, each with its name. */
export const factsIn = (rows, attributes = { class: 'facts card' }) =>
  element(
    'dl',
    attributes,
    ...rows.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );

export const emptyCard = (...content) => element('p', { class: 'card empty' }, ...content);

/** Replaces the contents of a box unless they are the same, so that they keep the focus and a selection. */
export function refill(box, next) {
  if (box.innerHTML !== next.innerHTML) box.replaceChildren(...next.childNodes);
}

const SIGNS = { good: '●', warn: '▲', bad: '✕', off: '○' };

/**
 * Returns a word with a sign before it, so that its meaning does not depend on colour. Failures are red. Refusals and warnings are amber. A
 * good state has no colour. A usual state has no kind: the function returns only the text.
 */
export function signed(kind, text) {
  if (kind === undefined) return text;
  return element(
    'span',
    { class: `state ${kind}` },
    element('span', { 'aria-hidden': 'true' }, `${SIGNS[kind]} `),
    text,
  );
}

/**
 * Returns the colour of an exchange, and the word for what happened. A 5xx hurts the client, whether the service failed or the gateway
 * refused the request.
 */
export function outcomeOf({ status, code, refused, broken, upstream_ms: upstreamMs }) {
  // The operations of the gateway itself refuse, too.
  const isRefused = refused || (status < 500 && code != null && upstreamMs == null);
  if (status >= 500) return ['bad', isRefused ? 'refused' : 'failed'];
  if (isRefused) return ['warn', 'refused'];
  return broken ? ['warn', 'off contract'] : [];
}

/** Keeps the words of a command whole. A browser would break them after a hyphen, so `--` alone could end a line. */
const wordsOf = (line) =>
  line.split(/(\s+)/).map((word) => (word.includes('-') ? element('span', { class: 'word' }, word) : word));

/** Makes a line with a button that copies it. If the browser gives no access to the clipboard, the button selects the line. */
export function commandLine(line, does) {
  const code = element('code', {}, ...wordsOf(line));
  const button = element('button', { type: 'button', class: 'copy', 'aria-label': `Copy: ${line}` }, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(line);
      button.textContent = 'Copied';
    } catch {
      getSelection()?.selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  const label = does === undefined ? [] : [element('span', { class: 'does' }, does)];
  return element('div', { class: 'command' }, ...label, code, button);
}

/** Lets an update replace elements without taking the focus from the one that has it. */
export function keepFocus(container, update) {
  const focused = container.contains(document.activeElement) ? document.activeElement : undefined;
  const key = focused?.dataset.focus;
  update();
  if (focused === undefined || focused === document.activeElement) return;
  const next = focused.isConnected
    ? focused
    : key === undefined
      ? undefined
      : [...container.querySelectorAll('[data-focus]')].find((one) => one.dataset.focus === key);
  next?.focus({ preventScroll: true });
}
