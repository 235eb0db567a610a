// The search: loads the index when it is first used, and works without a further request from then on.

const SHOWN_MAX = 30;
/** Of entries that fit alike. */
const KIND_ORDER = { Page: 4, Operation: 3, Resource: 3, Guide: 2, Field: 2, Reference: 1, Error: 0 };

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

/** Words that say nothing about what is looked for. */
const FILLERS = new Set(
  'a an and api are be can do does for from get got have how i if in is it me my of on or our should the there this to use using want what when where which who why with you your'.split(
    ' ',
  ),
);

/** Words that readers use for one another; each line is one matter. The first word of a phrase stands for it. */
const SYNONYMS = [
  'key keys credential credentials secret token apikey password login authenticate authentication auth bearer',
  'rotate rotation renew replace replacing roll swap',
  'revoke disable withdraw compromised leaked',
  'webhook webhooks callback callbacks event events notification notifications hook',
  'limit limits quota quotas throttle throttling ratelimit 429 rate plan plans tier tiers pricing price',
  'retry retries again repeat resend idempotency idempotent duplicate twice',
  'page pages pagination paging paginate cursor offset next',
  'error errors failure failed fails problem refused code codes',
  'delete remove erase cancel destroy',
  'create add new make post insert',
  'update change edit modify patch',
  'list all filter query find search browse',
  'retrieve read fetch show view',
  'test sandbox staging playground try',
  'version versions versioning deprecated deprecation sunset changelog changes release releases',
  'sdk sdks client library libraries generate',
  'support contact help',
  'permission permissions scope scopes forbidden 403 access',
  'unauthorized 401 unauthenticated',
  'timeout timeouts slow latency 504',
].map((line) => line.split(' '));

const ALIKE = new Map(SYNONYMS.flatMap((words) => words.map((word) => [word, words.filter((one) => one !== word)])));

/** Words that are looked for: those of a question without the ones that say nothing. */
function termsOf(text) {
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_.{}/-]+/u)
    .filter(Boolean)
    .slice(0, 12);
  const telling = words.filter((word) => !FILLERS.has(word));
  // An operation of one word, such as "get", is no question.
  if (telling.length === 0) return { terms: words, isQuestion: false };
  return { terms: telling, isQuestion: telling.length < words.length };
}

/** A question is answered by a guide rather than by a name that has its words; by the guide as a whole rather than by a part. */
function bonusOf({ kind, context }) {
  if (kind === 'Guide') return context === '' ? 40 : 25;
  return kind === 'Page' ? 25 : 0;
}

/** 0: the entry lacks a word, and every word that readers use for it. */
function weightOf(entry, terms) {
  let sum = KIND_ORDER[entry.kind] ?? 0;
  // Names of error codes have many words by chance.
  const ofSynonym = entry.kind === 'Error' ? 0.1 : 0.5;
  for (const term of terms) {
    const weight = Math.max(
      weightOfTerm(entry, term),
      ...(ALIKE.get(term) ?? []).map((other) => weightOfTerm(entry, other) * ofSynonym),
    );
    if (weight === 0) return 0;
    sum += weight;
  }
  if (entry.lowTitle === terms.join(' ')) sum += 60;
  return sum;
}

/** Words match at their beginning: "entry" is no find for "try". Titles and sections stand above texts. */
function weightOfTerm({ lowTitle, lowContext, lowWords }, term) {
  const inTitle = placeOf(lowTitle, term);
  if (inTitle === 0) return 30;
  if (inTitle > 0) return 24;
  if (placeOf(lowContext, term) >= 0) return 14;
  const at = placeOf(lowWords, term);
  return at < 0 ? 0 : at < 40 ? 6 : 3;
}

/** Where the first word of the text stands that begins with the term; -1 if there is none. */
function placeOf(text, term) {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1))
    if (at === 0 || !isLetter(text[at - 1]) || !isLetter(term[0])) return at;
  return -1;
}

function isLetter(character) {
  return /[\p{L}\p{N}]/u.test(character);
}

/** Exported for the tests: the entries that have every word; if there are none, those with most of them. The best come first. */
export function found(entries, text) {
  const { terms, isQuestion } = termsOf(text);
  if (terms.length === 0) return [];
  const whole = ranked(entries, (entry) => {
    const weight = weightOf(entry, terms);
    return weight > 0 && isQuestion ? weight + bonusOf(entry) : weight;
  });
  if (whole.length > 0) return whole;
  const mended = terms.map((term) => nearestWord(entries, term));
  if (mended.some((term, index) => term !== terms[index])) return found(entries, mended.join(' '));
  if (terms.length === 1) return whole;
  return ranked(entries, (entry) => {
    const weights = terms.map((term) => weightOf(entry, [term])).filter((weight) => weight > 0);
    return weights.length < terms.length / 2 ? 0 : weights.length * 100 + Math.max(...weights);
  });
}

const MENDED_MIN = 4;

/** The word of a title that is one slip away from a term that nothing has; else the term. */
function nearestWord(entries, term) {
  if (term.length < MENDED_MIN || entries.some((entry) => weightOf(entry, [term]) > 0)) return term;
  for (const { lowTitle } of entries)
    for (const word of lowTitle.split(/[^\p{L}\p{N}]+/u)) if (isOneSlipAway(word, term)) return word;
  return term;
}

/** One letter more, less or other, or two that changed places. The word may go on behind the term. */
function isOneSlipAway(word, term) {
  let at = 0;
  while (at < term.length && word[at] === term[at]) at += 1;
  if (at === term.length) return false;
  const rest = term.slice(at + 1);
  const swapped = term[at + 1] + term[at] + term.slice(at + 2);
  return (
    word.slice(at + 1).startsWith(rest) ||
    word.slice(at + 1).startsWith(term.slice(at)) ||
    (word.length > at && word.slice(at).startsWith(rest)) ||
    word.slice(at).startsWith(swapped)
  );
}

function ranked(entries, weigh) {
  return entries
    .map((entry) => ({ entry, weight: weigh(entry) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => isForOperators(one) - isForOperators(other) || other.weight - one.weight)
    .slice(0, SHOWN_MAX)
    .map(({ entry }) => entry);
}

/** What only operators of the API may use comes after all others. */
function isForOperators({ entry }) {
  return Number(entry.kind === 'Operators');
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
  ].filter(([, text]) => text !== '')) {
    const part = document.createElement('span');
    part.className = name;
    part.textContent = text;
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
    if (hits.length === 0) list.append(nothingFound(), ...waysOn().map(optionOf));
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
