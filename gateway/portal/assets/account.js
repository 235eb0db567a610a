// The page "Your account". The key is in a variable of this module only: not in an address, a storage, or an element. Leaving the page, also
// for the memory that browsers keep of it, forgets key and contents.

import { adviceElement, readKey } from './account-advice.js';
import { createApi, Refusal } from './account-api.js';
import { createDialog } from './account-dialog.js';
import { count, fillOf, inOrderOfNeed, listOf, maskOf, spanText, timeOfDay } from './account-figures.js';
import { keysElements } from './account-keys.js';
import { failedRequests } from './account-requests.js';
import { loadUse, useElements } from './account-use.js';
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
  close();
  field.focus();
  status.textContent = 'The key is forgotten.';
});
addEventListener('pagehide', close);

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

async function open(key) {
  close();
  const leaving = new AbortController();
  const api = createApi(key, { signal: leaving.signal });
  session = { leaving };
  form.classList.add('taken');
  forget.hidden = false;
  note.replaceChildren('Shown with the key ', element('code', {}, maskOf(key)), '.');
  root.hidden = false;
  root.replaceChildren(element('p', {}, 'Loading…'));
  status.textContent = 'Loading your account.';
  try {
    const { value } = await api.get('/organization');
    show(value, { api, key });
    status.textContent = `The account of ${value.name} is shown.`;
    place('account-name').focus();
  } catch (error) {
    if (error.name === 'AbortError') return;
    if (!(error instanceof Refusal)) throw error;
    root.replaceChildren(adviceElement(error, () => open(key)));
    status.textContent = '';
    // The reader may have to paste another key.
    if (error.status === 401 || error.status === 403) form.classList.remove('taken');
    field.focus();
  }
}

function show(organization, { api, key }) {
  const { name, id, tier, state, contacts } = organization;
  const facts = [
    ['Organization', element('code', {}, String(id))],
    ['Tier', String(tier)],
    ['State', String(state)],
    ['Notices go to', listOf(contacts).length > 0 ? contacts.join(', ') : 'no address'],
  ];
  const refresh = element('button', { type: 'button' }, 'Refresh');
  const sections = [
    section('limits', 'Limits', async () => limitElements((await api.get('/limits')).value)),
    useSection(api),
    section('failed', 'Requests that failed', async () => {
      const { value } = await api.get('/requests', [
        ['status', 'failed'],
        ['limit', '10'],
      ]);
      return [failedRequests(api, listOf(value.data), { nowMs: Date.now() })];
    }),
    section('keys', 'Keys', async ({ load }) => {
      const { value } = await api.get('/keys', [['limit', '100']]);
      const context = { api, dialog, secret: key, scopes: knownScopes, reload: load, useKey: open };
      return keysElements(listOf(value.data), value.has_more === true, context);
    }),
  ];
  refresh.addEventListener('click', async () => {
    await Promise.all(sections.map(({ load }) => load()));
    status.textContent = 'The account is up to date.';
  });
  root.replaceChildren(
    element(
      'div',
      { class: 'account-head' },
      element('h2', { id: 'account-name', tabindex: '-1' }, String(name)),
      refresh,
    ),
    element(
      'dl',
      { class: 'facts' },
      ...facts.map(([term, value]) => element('div', {}, element('dt', {}, term), element('dd', {}, value))),
    ),
    ...sections.map((one) => one.made),
  );
  for (const { load } of sections) load();
}

/** A part of the page that loads by itself: a refusal shows in its place. */
function section(id, title, fill) {
  const body = element('div', { class: 'account-body' }, element('p', {}, 'Loading…'));
  const made = element(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, title),
    body,
  );
  let runs = 0;

  async function load() {
    runs += 1;
    const run = runs;
    let parts;
    try {
      parts = await fill({ load });
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (!(error instanceof Refusal)) throw error;
      parts = [adviceElement(error, load)];
    }
    if (run === runs) body.replaceChildren(...parts);
  }

  return { made, load };
}

const SPANS_DAYS = [7, 30, 90];

function useSection(api) {
  let length = 30;
  const one = section('use', 'Use', async () => useElements(await loadUse(api, { nowMs: Date.now(), length })));
  const options = SPANS_DAYS.map((days) => element('option', { value: String(days) }, `${days} days`));
  const select = element('select', { id: 'use-days' }, ...options);
  select.value = String(length);
  select.addEventListener('change', () => {
    length = Number(select.value);
    one.load();
  });
  one.made.firstChild.after(
    element('p', { class: 'use-span' }, element('label', { for: 'use-days' }, 'Show '), select),
  );
  return one;
}

const LIMITS_SHOWN = 6;

function limitElements({ data }) {
  const limits = inOrderOfNeed(listOf(data));
  if (limits.length === 0) return [element('p', {}, 'No limit applies to your organization.')];
  const list = (some) =>
    element('ul', { class: 'account-cards' }, ...some.map((limit) => element('li', {}, limitElement(limit))));
  const parts = [list(limits.slice(0, LIMITS_SHOWN))];
  const rest = limits.slice(LIMITS_SHOWN);
  if (rest.length > 0)
    parts.push(
      element(
        'details',
        { class: 'nested' },
        element('summary', {}, `${rest.length} more limits, with more left`),
        list(rest),
      ),
    );
  return parts;
}

const levels = { free: '', near: 'near its end', full: 'used up' };

function limitElement(limit) {
  const {
    policy,
    key_id: keyId,
    operations,
    enforced,
    window_seconds: span,
    used,
    remaining,
    next_freed_at: freedAt,
  } = limit;
  const { share, level } = fillOf(limit);
  const label = `${policy}: ${count(used)} of ${count(limit.limit)} used`;
  const bar = element('div', {
    class: `bar ${level}`,
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': '0',
    'aria-valuemax': '100',
    'aria-valuenow': String(Math.round(share * 100)),
  });
  const filled = element('span');
  filled.style.width = `${share * 100}%`;
  bar.append(filled);
  const named = listOf(operations).map(String);
  const freed = freedAt ? `, the next is free at ${timeOfDay(freedAt, Date.now())}` : '';
  const notes = [
    ...(keyId ? [`Key ${keyId}.`] : []),
    ...(named.length > 0
      ? [`Counts ${named.slice(0, 3).join(', ')}${named.length > 3 ? ` and ${named.length - 3} more` : ''}.`]
      : []),
    ...(enforced === false ? ['It counts and refuses nothing.'] : []),
  ];
  return element(
    'article',
    { class: 'account-card' },
    element(
      'h3',
      {},
      String(policy),
      ' ',
      ...(levels[level] ? [element('span', { class: `badge ${level}` }, levels[level])] : []),
    ),
    bar,
    element('p', {}, element('strong', {}, count(used)), ` of ${count(limit.limit)} in the last ${spanText(span)}`),
    element('p', { class: 'account-soft' }, `${count(remaining)} left${freed}. ${notes.join(' ')}`),
  );
}
