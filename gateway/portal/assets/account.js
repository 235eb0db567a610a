// The page "Your account". A pasted key is only in a variable of this module: not in an address, a storage, or an element. When the reader leaves
// the page, it forgets the key and its contents, in the browser's back-forward cache, too. The reader need not paste the test key of the tab again.

import { adviceElement, readKey } from './account-advice.js';
import { createApi, Refusal } from './account-api.js';
import { createDialog } from './account-dialog.js';
import { explainSection, linkedId } from './account-explain.js';
import { listOf, maskOf } from './account-figures.js';
import { keysElements } from './account-keys.js';
import { limitElements } from './account-limits.js';
import { loadOperations } from './account-operations.js';
import { organizationCard, ownRequestsCard } from './account-organization.js';
import { REQUEST_FILTERS, recentRequests } from './account-requests.js';
import { loadUse, useElements } from './account-use.js';
import { forgetStoredKey, isTestKey, storedKey } from './key.js';
import { element } from './page-tools.js';

const place = (id) => document.getElementById(id);
const form = place('account-form');
const field = place('account-key');
const note = place('account-note');
const forget = place('account-forget');
const root = place('account');
const status = place('account-status');
const knownScopes = root.dataset.scopes.split(' ').filter((scope) => scope !== '');
const dialog = createDialog(place('account-dialog'));
const hint = [...note.childNodes];

let session;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const { key, problem } = readKey(field.value);
  if (key !== undefined) return open(key);
  field.setAttribute('aria-invalid', 'true');
  note.replaceChildren(problem);
  status.textContent = problem;
  field.focus();
});
field.addEventListener('input', () => {
  field.removeAttribute('aria-invalid');
  note.replaceChildren(...hint);
});
forget.addEventListener('click', () => {
  if (session?.key === storedKey()) forgetStoredKey();
  close();
  field.focus();
  status.textContent = 'The key is forgotten.';
});
addEventListener('pagehide', close);
addEventListener('hashchange', () => (session === undefined ? announceRequest() : session.again()));
announceRequest();
if (isTestKey(storedKey())) open(storedKey(), { isAsked: linkedId() !== undefined });

function close() {
  session?.leaving.abort();
  session = undefined;
  if (place('account-dialog').open) dialog.close();
  root.replaceChildren();
  root.hidden = true;
  field.value = '';
  form.classList.remove('taken');
  forget.hidden = true;
  note.replaceChildren(...hint);
  status.textContent = '';
}

/** A link to a request leads here before there is a key, so the page says what the key is for. */
function announceRequest() {
  const id = linkedId();
  if (id === undefined) return;
  const other = ' paste the key that it was sent with, or a live key of its organization with the scope ';
  const text = [other, element('code', {}, 'gateway:read'), '.'];
  const asked = element('p', { class: 'account-asked' }, 'To explain ', element('code', {}, id), ',', ...text);
  form.querySelector('.account-asked')?.remove();
  form.querySelector('label').before(asked);
}

/** @param isAsked whether the reader waits for the account, which then gets the focus */
async function open(key, { isAsked = true } = {}) {
  close();
  const leaving = new AbortController();
  const api = createApi(key, { signal: leaving.signal });
  session = { key, leaving, again: () => open(key) };
  form.classList.add('taken');
  forget.hidden = false;
  note.replaceChildren('Key ', element('code', {}, maskOf(key)));
  root.hidden = false;
  root.replaceChildren(element('p', {}, 'Loading…'));
  status.textContent = 'Loading your account.';
  try {
    const [organization] = await Promise.all([organizationOf(api, key), loadOperations()]);
    show(organization, { api, key });
    status.textContent = `${organization === undefined ? 'The requests of this key are' : `The account of ${organization.name} is`} shown.`;
    if (isAsked) place('account-name').focus();
  } catch (error) {
    if (error.name === 'AbortError') return;
    if (!(error instanceof Refusal)) throw error;
    root.replaceChildren(adviceElement(error, () => open(key)));
    status.textContent = '';
    // The reader may have to paste another key.
    if (error.status === 401 || error.status === 403) {
      form.classList.remove('taken');
      field.focus();
    }
  }
}

/** Undefined for a key that shows only its own requests: a test key, or a key without the scope for more. */
async function organizationOf(api, key) {
  if (isTestKey(key)) {
    // A key that is not accepted has no requests to show.
    await api.get('/requests', [['limit', '1']]);
    return undefined;
  }
  try {
    return (await api.get('/organization')).value;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'insufficient_scope') return undefined;
    throw error;
  }
}

/** @param organization undefined: only requests are shown */
function show(organization, { api, key }) {
  const refresh = element('button', { type: 'button' }, 'Refresh');
  const recent = requestsSection(api);
  const explain = explainSection(api, section);
  const isLinked = linkedId() !== undefined;
  const requests = isLinked ? [recent] : [explain, recent];
  const others = organization === undefined ? requests : sectionsOfOrganization({ api, key, requests });
  const sections = isLinked ? [explain, ...others] : others;
  refresh.addEventListener('click', async () => {
    await Promise.all(sections.map(({ load }) => load()));
    status.textContent = 'The account is up to date.';
  });
  const card =
    organization === undefined ? ownRequestsCard(isTestKey(key), refresh) : organizationCard(organization, refresh);
  root.replaceChildren(card, ...sections.map((one) => one.made));
  for (const { load } of sections) load();
}

function sectionsOfOrganization({ api, key, requests }) {
  return [
    section('limits', 'Limits', async () => {
      const { value } = await api.get('/limits');
      return limitElements(value, await keysOf(api, listOf(value.data)));
    }),
    useSection(api),
    ...requests,
    section('keys', 'Keys', async ({ reload }) => {
      const { value } = await api.get('/keys', [['limit', '100']]);
      const context = { api, dialog, secret: key, scopes: knownScopes, reload, useKey: open };
      return keysElements(listOf(value.data), value.has_more === true, context);
    }),
  ];
}

/** The keys, for the names of limits. If the key may not read keys, the limits have ids. */
async function keysOf(api, limits) {
  if (!limits.some(({ key_id: keyId }) => keyId)) return [];
  try {
    return listOf((await api.get('/keys', [['limit', '100']])).value.data);
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}

/** A part of the page that loads by itself. A refusal is shown in its place. */
function section(id, title, fill) {
  const body = element('div', { class: 'account-body' }, element('p', {}, 'Loading…'));
  const heading = element('h2', { id: `${id}-title`, tabindex: '-1' }, title);
  const made = element('section', { id, 'aria-labelledby': heading.id }, heading, body);
  let runs = 0;

  async function load() {
    runs += 1;
    const run = runs;
    let parts;
    try {
      parts = await fill({ reload });
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (!(error instanceof Refusal)) throw error;
      parts = [adviceElement(error, load)];
    }
    if (run === runs) body.replaceChildren(...parts);
  }

  /** After a dialog, the focus goes to the heading, because the button that opened the dialog is replaced. */
  async function reload() {
    heading.focus();
    await load();
  }

  return { made, load };
}

/** A section whose content depends on a choice at its top. */
function chosenSection({ id, title, options, chosen, fill }) {
  const select = element(
    'select',
    { id: `${id}-choice` },
    ...options.map(([value, text]) => element('option', { value }, text)),
  );
  select.value = chosen;
  const one = section(id, title, () => fill(select.value));
  select.addEventListener('change', () => one.load());
  const label = element('label', { for: select.id }, 'Show ');
  one.made.firstChild.after(element('p', { class: 'section-choice' }, label, select));
  return one;
}

function requestsSection(api) {
  return chosenSection({
    id: 'requests',
    title: 'Recent requests',
    options: REQUEST_FILTERS,
    chosen: '',
    fill: (status) => recentRequests(api, { nowMs: Date.now(), status }),
  });
}

const SPANS_DAYS = [7, 30, 90];

function useSection(api) {
  return chosenSection({
    id: 'use',
    title: 'Use',
    options: SPANS_DAYS.map((days) => [String(days), `${days} days`]),
    chosen: '30',
    fill: async (days) => useElements(await loadUse(api, { nowMs: Date.now(), length: Number(days) })),
  });
}
