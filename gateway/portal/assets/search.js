// The search: loads the index when it is first used, and works without a further request from then on.

import { element, explanationAddress } from './page-tools.js';
import { found, toSearched, wordsOf } from './search-rank.js';

const OPERATORS = 'Operators';

let index;

function load() {
  index ??= fetch('/docs/search.json')
    .then((answer) => answer.json())
    .then(({ entries }) => entries.map(toSearched))
    .catch(() => {
      index = undefined;
      return [];
    });
  return index;
}

/** The text, with the beginnings of words marked that are looked for. */
function marked(text, words) {
  const wanted = words.filter((word) => word.length > 1).map((word) => word.replace(/[.{}/]/g, '\\$&'));
  if (wanted.length === 0) return [text];
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${wanted.join('|')})`, 'giu'));
  return parts.map((part, index) => (index % 2 === 0 ? part : element('mark', {}, part)));
}

function optionOf(entry, number, words = []) {
  const option = document.createElement('a');
  option.href = entry.path;
  option.id = `found-${number}`;
  option.setAttribute('role', 'option');
  option.setAttribute('aria-selected', 'false');
  option.tabIndex = -1;
  for (const [name, text] of [
    ['found-kind', entry.kind],
    ['found-title', entry.title],
    ['found-context', entry.context],
  ].filter(([, text]) => text !== '')) {
    const part = document.createElement('span');
    part.className = name;
    part.append(...(name === 'found-kind' ? [text] : marked(text, words)));
    option.append(part);
  }
  return option;
}

function nothingFound() {
  const none = document.createElement('div');
  none.className = 'found-none';
  none.setAttribute('role', 'option');
  none.setAttribute('aria-disabled', 'true');
  none.textContent = 'Nothing found. Try another word, a part of one, or go on here:';
  return none;
}

/** The id of a request leads to what happened to it. */
function requestIn(text) {
  const [id] = /^req_\w{8,}$/.exec(text.trim()) ?? [];
  const path = id === undefined ? undefined : explanationAddress(id);
  return path === undefined ? [] : [{ kind: 'Request', title: 'Explain this request', path, context: id }];
}

/** Where a reader goes on who has found nothing: the contact is a link at the foot of pages. */
function waysOn() {
  const contact = document.querySelector('.foot [data-contact]')?.href;
  return [
    { kind: 'Page', title: 'All guides', path: '/docs/guides', context: 'How things are done' },
    { kind: 'Page', title: 'All errors', path: '/docs/errors', context: 'What each code means' },
    ...(contact === undefined ? [] : [{ kind: 'Page', title: 'Contact', path: contact, context: 'Ask a person' }]),
  ];
}

/** @param field the input of the search, which the reader has turned to */
export function openSearch(field) {
  const list = document.getElementById('found');
  const count = document.getElementById('found-count');
  let active = -1;
  /** What only operators of the API may use is left out until the reader wants it. */
  let withOperators = false;

  function close() {
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  }

  function activate(number) {
    const options = list.querySelectorAll('a');
    if (options.length === 0) return;
    options[active]?.setAttribute('aria-selected', 'false');
    active = (number + options.length) % options.length;
    options[active].setAttribute('aria-selected', 'true');
    options[active].scrollIntoView({ block: 'nearest' });
    field.setAttribute('aria-activedescendant', options[active].id);
  }

  function moreForOperators(title) {
    const more = optionOf({ kind: OPERATORS, title, path: '#', context: 'Show' }, 'more');
    more.addEventListener('click', (event) => {
      event.preventDefault();
      event.stopPropagation();
      withOperators = true;
      show();
      field.focus();
    });
    return more;
  }

  async function show() {
    const text = field.value;
    const entries = await load();
    // Another letter may have been typed meanwhile.
    if (text !== field.value) return;
    const isForOperators = ({ kind }) => kind === OPERATORS;
    const forOperators = found(entries.filter(isForOperators), text);
    const forClients = found(
      entries.filter((entry) => !isForOperators(entry)),
      text,
    );
    const hits = [...requestIn(text), ...forClients, ...(withOperators ? forOperators : [])];
    const words = wordsOf(text);
    list.replaceChildren(...hits.map((hit, index) => optionOf(hit, index, words)));
    active = -1;
    count.textContent = text.trim() === '' ? '' : hits.length === 0 ? 'Nothing found' : `${hits.length} found`;
    if (hits.length === 0 && text.trim() === '') return close();
    const more = withOperators ? 0 : forOperators.length;
    if (hits.length === 0 && more === 0)
      list.append(nothingFound(), ...waysOn().map((way, index) => optionOf(way, index)));
    if (more > 0)
      list.append(moreForOperators(hits.length === 0 ? `${more} for operators` : `${more} more for operators`));
    list.hidden = false;
    field.setAttribute('aria-expanded', 'true');
    if (hits.length > 0) activate(0);
  }

  field.addEventListener('focus', () => {
    load();
    if (field.value !== '') show();
  });
  field.addEventListener('input', show);
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') activate(active + 1);
    else if (event.key === 'ArrowUp') activate(active - 1);
    else if (event.key === 'Enter') list.querySelectorAll('a')[active]?.click();
    else if (event.key === 'Escape') {
      if (list.hidden) field.value = '';
      close();
    } else return;
    event.preventDefault();
  });
  document.addEventListener('click', ({ target }) => {
    if (!list.contains(target) && target !== field) close();
    if (list.contains(target)) close();
  });
  field.closest('search').addEventListener('focusout', ({ relatedTarget }) => {
    if (!field.closest('search').contains(relatedTarget)) close();
  });
  load();
  if (field.value !== '') show();
}
