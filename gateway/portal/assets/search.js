// The search: loads the index when it is first used, and works without a further request from then on.

const SHOWN_MAX = 30;
/** Places of words in an entry, by weight: title, context (method and path), the rest. */
const KIND_ORDER = { Operation: 3, Guide: 2, Reference: 1, Error: 0 };

let index;

function load() {
  index ??= fetch('/docs/search.json')
    .then((answer) => answer.json())
    .then(({ entries }) =>
      entries.map(([kind, title, path, context, words]) => ({
        ...{ kind, title, path, context, words },
        lowTitle: title.toLowerCase(),
        lowContext: context.toLowerCase(),
        lowWords: words.toLowerCase(),
      })),
    )
    .catch(() => {
      index = undefined;
      return [];
    });
  return index;
}

function weightOf(entry, terms) {
  let sum = KIND_ORDER[entry.kind] ?? 0;
  for (const term of terms) {
    const weight = weightOfTerm(entry, term);
    if (weight === 0) return 0;
    sum += weight;
  }
  const whole = terms.join(' ');
  if (entry.lowTitle === whole) sum += 60;
  return sum;
}

function weightOfTerm({ lowTitle, lowContext, lowWords }, term) {
  if (lowTitle.startsWith(term)) return 30;
  if (new RegExp(`(^|[^a-z0-9])${term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`).test(lowTitle)) return 20;
  if (lowTitle.includes(term)) return 12;
  if (lowContext.includes(term)) return 10;
  const at = lowWords.indexOf(term);
  return at < 0 ? 0 : at < 40 ? 6 : 3;
}

/** Exported for the tests: the entries that have every word, the best first. */
export function found(entries, text) {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8);
  if (terms.length === 0) return [];
  return entries
    .map((entry) => ({ entry, weight: weightOf(entry, terms) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .slice(0, SHOWN_MAX)
    .map(({ entry }) => entry);
}

function optionOf(entry, number) {
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
  ]) {
    const part = document.createElement('span');
    part.className = name;
    part.textContent = text;
    option.append(part);
  }
  return option;
}

/** @param field the input of the search; null on pages without one */
export function openSearch(field) {
  if (field === null) return;
  const list = document.getElementById('found');
  const count = document.getElementById('found-count');
  let active = -1;

  function close() {
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  }

  function activate(number) {
    const options = list.children;
    if (options.length === 0) return;
    options[active]?.setAttribute('aria-selected', 'false');
    active = (number + options.length) % options.length;
    options[active].setAttribute('aria-selected', 'true');
    options[active].scrollIntoView({ block: 'nearest' });
    field.setAttribute('aria-activedescendant', options[active].id);
  }

  async function show() {
    const text = field.value;
    const entries = await load();
    // Another letter may have been typed meanwhile.
    if (text !== field.value) return;
    const hits = found(entries, text);
    list.replaceChildren(...hits.map(optionOf));
    active = -1;
    count.textContent = text.trim() === '' ? '' : hits.length === 0 ? 'Nothing found' : `${hits.length} found`;
    if (hits.length === 0 && text.trim() === '') return close();
    if (hits.length === 0) {
      const none = document.createElement('div');
      none.className = 'found-none';
      none.setAttribute('role', 'option');
      none.setAttribute('aria-disabled', 'true');
      none.textContent = 'Nothing found.';
      list.append(none);
    }
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
    else if (event.key === 'Enter') list.children[active]?.click();
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
  document.addEventListener('keydown', (event) => {
    const isWriting = event.target.closest('input, textarea, select');
    if (event.key !== '/' || isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}
