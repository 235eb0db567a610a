// The reader's test key: pasted into the bar of the page, or brought by the fragment of an address (`#key=…`). It stays in the tab
// (sessionStorage), is shown as dots, and is sent to the page's own host only.

import { element } from './page-tools.js';

const KEY = 'portal-key';
const WORKS = 'portal-key-works';
const LIMIT = 'portal-limit';
const PLACEHOLDER = 'YOUR_API_KEY';
const DOTS = '••••••••••••';
/** The form of keys and tokens: a header, and a quoted string of every language, can contain them. */
const KEY_FORM = /^[A-Za-z0-9._~+/=-]{8,4096}$/;

export function storedKey() {
  return sessionStorage.getItem(KEY) ?? '';
}

function storeKey(key) {
  sessionStorage.setItem(KEY, key);
  sessionStorage.removeItem(WORKS);
}

export function forgetStoredKey() {
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(WORKS);
  sessionStorage.removeItem(LIMIT);
}

/** Puts the key into samples, as dots that become the key when they are copied. */
export function showKey() {
  const key = storedKey();
  const [prefix = ''] = /^sk_test_/.exec(key) ?? [];
  for (const place of document.querySelectorAll('.key')) place.textContent = key === '' ? PLACEHOLDER : prefix + DOTS;
  showSteps();
}

/** The first steps of the start page go on from a key that the API has accepted. */
function showSteps() {
  const works = sessionStorage.getItem(WORKS) !== null;
  for (const step of document.querySelectorAll('.until-key')) step.classList.toggle('done', works);
  for (const text of document.querySelectorAll('.with-key')) {
    text.hidden = !works;
    text.previousElementSibling.hidden = works;
  }
}

/** Text of a page with the key in place of the dots. */
export function withKey(text) {
  const key = storedKey();
  return key === '' ? text : text.replaceAll(/(?:sk_test_)?•{12}/g, key);
}

export const isTestKey = (text) => /^sk_test_/.test(text);

/** The problem with a text as a test key; empty if there is none. */
export function problemOf(text) {
  if (/^sk_live_/.test(text)) return 'This is a live key. Use a test key here: it begins with sk_test_.';
  return text === '' || KEY_FORM.test(text) ? '' : 'This is not a whole key.';
}

export function askForKey() {
  document.getElementById('key')?.focus();
}

/** The first limit of an answer (draft-ietf-httpapi-ratelimit-headers): what the reader's own tier allows. */
export function rememberLimit(headers) {
  const [, requests, seconds] = /;q=(\d{1,10});w=(\d{1,6})/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
  if (requests === undefined) return;
  sessionStorage.setItem(LIMIT, `${requests}/${seconds}`);
  showLimit();
}

/** Marks the reader's tier in tables, and puts its number into sentences and samples. */
function showLimit() {
  const limit = sessionStorage.getItem(LIMIT);
  if (limit === null) return;
  const [requests, seconds] = limit.split('/');
  for (const place of document.querySelectorAll('.my-limit'))
    place.textContent = String(Number(requests) - Number(place.dataset.less ?? 0));
  const rows = [...document.querySelectorAll('tr[data-limit]')];
  const own = rows.filter((row) => row.dataset.limit === limit);
  for (const row of rows) row.classList.toggle('own', own.length === 1 && row === own[0]);
  for (const note of document.querySelectorAll('.own-tier')) {
    note.hidden = own.length !== 1;
    note.querySelector('.own-limit').textContent =
      `${Number(requests).toLocaleString('en')} requests in ${seconds} seconds`;
  }
}

/** @param bar the form of the head; null on pages without one */
export function openKeyBar(bar) {
  const problem = takeFromAddress();
  showKey();
  showLimit();
  if (bar === null) return;
  const field = bar.querySelector('#key');
  const note = bar.querySelector('#key-note');

  function show() {
    const isKnown = storedKey() !== '';
    bar.classList.toggle('taken', isKnown);
    bar.querySelector('#forget-key').hidden = !isKnown;
    showKey();
  }

  function take() {
    const text = field.value.trim().replace(/^Bearer\s+/i, '');
    const problem = problemOf(text);
    sessionStorage.removeItem(KEY);
    sessionStorage.removeItem(WORKS);
    if (text !== '' && problem === '') storeKey(text);
    say(problem);
    field.toggleAttribute('aria-invalid', problem !== '');
    showKey();
  }

  function say(...parts) {
    note.replaceChildren(...parts);
    bar.classList.remove('refused', 'works');
    bar.classList.toggle('says', note.textContent !== '');
  }

  /** Asks the API whether the key is good. */
  async function close() {
    if (storedKey() === '') return;
    field.value = '';
    show();
    const { probe } = bar.dataset;
    if (probe === undefined) return;
    try {
      const headers = { Authorization: `Bearer ${storedKey()}` };
      const answer = await fetch(probe, { headers, credentials: 'omit', cache: 'no-store' });
      rememberLimit(answer.headers);
      say(...(await verdictOn(answer)));
      bar.classList.toggle('refused', answer.status === 401);
      bar.classList.toggle('works', answer.ok);
      if (answer.ok) sessionStorage.setItem(WORKS, '1');
      else sessionStorage.removeItem(WORKS);
      showSteps();
    } catch {
      say('The API does not respond.');
    }
  }

  /** Says about the key of a link what the field says about a pasted one. */
  function answerTo(problem) {
    if (problem === '') close();
    else if (problem !== undefined) say(problem);
  }

  field.addEventListener('input', take);
  field.addEventListener('change', close);
  bar.addEventListener('submit', (event) => {
    event.preventDefault();
    close();
  });
  bar.querySelector('#forget-key').addEventListener('click', () => {
    forgetStoredKey();
    say();
    show();
    field.focus();
  });
  // A link that is opened in a tab that has the page already loads no page.
  addEventListener('hashchange', () => {
    answerTo(takeFromAddress());
  });
  show();
  answerTo(problem);
}

async function verdictOn(answer) {
  const { error } = await answer.json().catch(() => ({}));
  if (answer.ok) return ['This key works.'];
  if (answer.status !== 401 || typeof error?.code !== 'string' || !/^\w{1,64}$/.test(error.code)) return [];
  return [element('a', { href: `/docs/errors/${error.code}` }, error.code), ': this key is refused.'];
}

/**
 * Takes a test key from the fragment, and removes it from the address, so that it is never sent and no history keeps it.
 * @returns the problem with the key, empty if it is taken; undefined if the address has none
 */
function takeFromAddress() {
  const [, key] = /^#key=([^&]*)$/.exec(location.hash) ?? [];
  if (key === undefined) return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  const problem = problemOf(key) || (isTestKey(key) ? '' : 'Links bring test keys only: they begin with sk_test_.');
  if (problem === '') storeKey(key);
  return problem;
}
