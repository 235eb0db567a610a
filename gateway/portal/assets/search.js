// The search. It loads the index at its first use, and needs no other request.

import { element, explanationAddress } from './page-tools.js';
import { found, nearlyFound, toSearched, wordsOf } from './search-rank.js';

const OPERATORS = 'Operators';
/** The longest list of resources that is shown when nothing is found. */
const RESOURCES_MAX = 16;

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
function markWords(text, words) {
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
    part.append(...(name === 'found-kind' ? [text] : markWords(text, words)));
    option.append(part);
  }
  return option;
}

/** A line between results, which cannot be chosen. */
function between(text) {
  const line = document.createElement('div');
  line.className = 'found-none';
  line.setAttribute('role', 'option');
  line.setAttribute('aria-disabled', 'true');
  line.textContent = text;
  return line;
}

/** A link to the explanation of a request, if the text is its id. */
function requestIn(text) {
  const [id] = /^req_\w{8,}$/.exec(text.trim()) ?? [];
  const path = id === undefined ? undefined : explanationAddress(id);
  return path === undefined ? [] : [{ kind: 'Request', title: 'Explain this request', path, context: id }];
}

/** The links for a reader who has found nothing. The contact is a link at the foot of pages. */
function waysOn(resources) {
  const contact = document.querySelector('.foot [data-contact]')?.href;
  const isShort = resources.length > 0 && resources.length <= RESOURCES_MAX;
  return [
    ...(isShort
      ? resources
      : [{ kind: 'Page', title: 'All operations', path: '/docs/reference', context: 'What the API does' }]),
    { kind: 'Page', title: 'All guides', path: '/docs/guides', context: 'How things are done' },
    { kind: 'Page', title: 'All errors', path: '/docs/errors', context: 'What each code means' },
    ...(contact === undefined ? [] : [{ kind: 'Page', title: 'Contact', path: contact, context: 'Ask a person' }]),
  ];
}

function optionsOf(hits, words) {
  return hits.map((hit, index) => optionOf(hit, index, words));
}

/** The list when no entry has every word: the nearest entries, or the resources. */
function insteadOf(text, entries) {
  const near = nearlyFound(entries, text);
  const resources = near.length > 0 ? [] : entries.filter(({ kind }) => kind === 'Resource');
  const ways = waysOn(resources).map((way, index) => optionOf(way, near.length + index));
  if (near.length === 0) return [between('Nothing found. These are the resources:'), ...ways];
  const nearest = optionsOf(near, wordsOf(text));
  return [between('Nothing has all of these words. Nearest:'), ...nearest, between('Or go on here:'), ...ways];
}

/** @param field the input of the search, which the reader has turned to */
export function openSearch(field) {
  const list = document.getElementById('found');
  const count = document.getElementById('found-count');
  let active = -1;
  /** Operations that only operators may use are left out until the reader asks for them. */
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
    const clients = entries.filter((entry) => !isForOperators(entry));
    const forClients = found(clients, text);
    const hits = [...requestIn(text), ...forClients, ...(withOperators ? forOperators : [])];
    const isEmpty = text.trim() === '';
    count.textContent = isEmpty ? '' : hits.length === 0 ? 'Nothing found' : `${hits.length} found`;
    active = -1;
    list.replaceChildren(...optionsOf(hits, wordsOf(text)));
    if (isEmpty) return close();
    const more = withOperators ? 0 : forOperators.length;
    if (hits.length === 0 && more > 0) list.append(between('Nothing found that clients of the API may use.'));
    else if (hits.length === 0) list.append(...insteadOf(text, clients));
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
