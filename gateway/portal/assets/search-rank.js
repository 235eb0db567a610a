// Which entries of the index a search finds, and in which order.

import { operationsOn } from './search-path.js';

const SHOWN_MAX = 30;
/** The most entries that lack a word. */
const NEAR_MAX = 4;
/** Fields of one name, which many resources have. */
const FIELDS_ALIKE_MAX = 5;
/** The order of entries that fit equally well. */
const KIND_ORDER = { Page: 4, Operation: 3, Resource: 3, Guide: 2, Field: 1, Reference: 1, Error: 0 };

/** An entry may fit by its whole title, or by the topic of its page. */
const EXACT = 110;
const ABOUT = 90;

/** Words that say nothing about what is looked for. */
const FILLERS = new Set(
  'a am an and api are be can do does for from get got have how i if in is it me my of on or our should the there this to use using want what when where which who why with you your'.split(
    ' ',
  ),
);

/** Synonyms: each line has the words for one subject. The first word of a phrase stands for the phrase. */
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
  'canceled cancelled cancellation',
  'create add new make post insert send',
  'update change edit modify patch',
  'list all filter query find search browse',
  'retrieve get read fetch show view',
  'test sandbox staging playground try',
  'version versions versioning deprecated deprecation sunset changelog changes release releases',
  'sdk sdks client library libraries generate',
  'support contact help',
  'permission permissions scope scopes forbidden 403 access',
  'unauthorized 401 unauthenticated',
  'timeout timeouts slow latency 504',
].map((line) => line.split(' '));

const ALIKE = new Map(SYNONYMS.flatMap((words) => words.map((word) => [word, words.filter((one) => one !== word)])));

/** Exported for the tests: an entry of `search/index.ts`, with what the comparison reads. */
export function toSearched([kind, title, path, context, words, topic = '']) {
  const [telling = '', others = ''] = topic.split(' | ').map((side) => side.split(' '));
  return {
    ...{ kind, title, path, context },
    lowTitle: title.toLowerCase(),
    lowContext: context.toLowerCase(),
    lowWords: words.toLowerCase(),
    telling: new Set(telling),
    topic: new Set([...telling, ...others]),
  };
}

/** The words to search for. Filler words of a question are left out. */
function termsOf(text) {
  const words = text
    .toLowerCase()
    .replaceAll('c#', 'csharp')
    .split(/[^\p{L}\p{N}_.{}/-]+/u)
    .filter(Boolean)
    .slice(0, 12);
  const telling = words.filter((word) => !FILLERS.has(word));
  // An operation of one word, such as "get", is not a question, and neither is "get customer".
  if (telling.length === 0 || (words[0] === 'get' && telling.length === words.length - 1))
    return { terms: words, isQuestion: false };
  return { terms: telling, isQuestion: telling.length < words.length };
}

/** The words to mark in the titles of results. */
export function wordsOf(text) {
  return termsOf(text).terms;
}

/**
 * A guide answers a question better than a name that contains its words, and the whole guide better than a part. A guide that contains the
 * words only in its text is not an answer.
 */
function bonusOf(entry, terms) {
  const { kind, context } = entry;
  if (kind === 'Page') return 25;
  if (kind !== 'Guide' || !terms.some((term) => isNamedBy(entry, term))) return 0;
  return context === '' ? 40 : 25;
}

/** How well an entry fits; 0 if the entry lacks a word and all its synonyms. */
function weightOf(entry, terms) {
  const { kind, telling, topic } = entry;
  const isAbout = terms.every((term) => topic.has(term)) && terms.some((term) => telling.has(term));
  let sum = (KIND_ORDER[kind] ?? 0) + (isAbout ? ABOUT : 0);
  for (const term of terms) {
    const weight = Math.max(weightOfTerm(entry, term), weightOfSynonyms(entry, term));
    if (weight === 0 && !isAbout) return 0;
    sum += weight;
  }
  return isWhole(entry, terms.join(' ')) ? sum + EXACT : sum;
}

/** A code may be written as words. A field may not: "request id" is more than a field. */
function isWhole({ kind, lowTitle }, text) {
  return lowTitle === text || (kind === 'Error' && lowTitle.replaceAll('_', ' ') === text);
}

function weightOfSynonyms(entry, term) {
  // A field is found by its name.
  if (entry.kind === 'Field') return 0;
  // Names of error codes have many words by chance.
  const share = entry.kind === 'Error' ? 0.1 : 0.5;
  return Math.max(0, ...(ALIKE.get(term) ?? []).map((other) => weightOfTerm(entry, other) * share));
}

/** Words match at their beginning, so "try" does not find "entry". Titles and sections rank above texts. */
function weightOfTerm({ kind, lowTitle, lowContext, lowWords }, term) {
  const inTitle = placeOf(lowTitle, term);
  // Beside an operation, a field is a detail.
  if (kind === 'Field' && inTitle >= 0) return 12;
  if (inTitle === 0) return 30;
  if (inTitle > 0) return 24;
  if (placeOf(lowContext, term) >= 0) return kind === 'Field' ? 4 : 14;
  const at = placeOf(lowWords, term);
  if (at < 0) return 0;
  return kind === 'Field' ? 2 : at < 40 ? 6 : 3;
}

/**
 * The position of the first word in the text that begins with the term; -1 if there is none. A term of one or two letters must be a whole
 * word: "id" is not the beginning of "idempotency".
 */
function placeOf(text, term) {
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    const begins = at === 0 || !isLetter(text[at - 1]) || !isLetter(term[0]);
    if (begins && (term.length > 2 || !isLetter(text[at + term.length] ?? ''))) return at;
  }
  return -1;
}

function isLetter(character) {
  return /[\p{L}\p{N}]/u.test(character);
}

/** Returns the operations of a path; otherwise the entries that contain every word. The best come first. */
export function found(entries, text) {
  const onPath = operationsOn(entries, text);
  if (onPath.length > 0) return onPath;
  const { terms, isQuestion } = termsOf(text);
  if (terms.length === 0) return [];
  const asked = text.toLowerCase().replace(/[\s?!.]+$/, '');
  const weigh = (entry) => {
    const weight = weightOf(entry, terms) + (endsWithTitle(asked, entry) ? EXACT : 0);
    return weight > 0 && isQuestion ? weight + bonusOf(entry, terms) : weight;
  };
  const whole = rank(entries, weigh, (best) => Math.min(best, CLEAR * terms.length) * WEAK_SHARE);
  if (whole.length > 0) return withoutPartial(whole, terms);
  const mended = terms.map((term) =>
    nearestWord(entries, term, terms.length > 1 ? MENDED_BESIDE_OTHERS_MIN : MENDED_MIN),
  );
  return mended.some((term, index) => term !== terms[index]) ? found(entries, mended.join(' ')) : [];
}

/** "How do I get a key" ends with the title of a section. */
function endsWithTitle(asked, { lowTitle }) {
  return lowTitle.includes(' ') && asked.endsWith(` ${lowTitle}`);
}

/** For a text of which no entry contains every word. Returns the entries that contain most of the words in a name. */
export function nearlyFound(entries, text) {
  const { terms } = termsOf(text);
  if (terms.length < 2) return [];
  const weighMost = (entry) => {
    const weights = terms.map((term) => weightOf(entry, [term])).filter((weight) => weight >= NAMED);
    return weights.length < terms.length / 2 ? 0 : weights.length * 1000 + Math.max(...weights);
  };
  return rank(entries, weighMost, (best) => Math.floor(best / 1000) * 1000).slice(0, NEAR_MAX);
}

/** The weight of a word in a title. Entries below a share of this weight, or of the best entry's weight, are left out. */
const CLEAR = 30;
const WEAK_SHARE = 0.35;
/** The least weight of a word that is in a name of the entry or in its topic, not only in its text. */
const NAMED = 12;

/** If the best entry contains each word in a name, removes the entries that do not. */
function withoutPartial(finds, terms) {
  const isNamed = (entry) => terms.every((term) => isNamedBy(entry, term));
  return terms.length > 1 && isNamed(finds[0]) ? finds.filter(isNamed) : finds;
}

function isNamedBy(entry, term) {
  return weightOf(entry, [term]) >= NAMED;
}

const MENDED_MIN = 4;
/** The other words of a search leave less to chance. */
const MENDED_BESIDE_OTHERS_MIN = 3;

/** The word of a title that is one slip away from a term that nothing has; else the term. */
function nearestWord(entries, term, lengthMin) {
  if (term.length < lengthMin || entries.some((entry) => weightOf(entry, [term]) > 0)) return term;
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

function rank(entries, weigh, leastOf) {
  const fitting = entries
    .map((entry) => ({ entry, weight: weigh(entry) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  const least = leastOf(fitting[0]?.weight ?? 0);
  const counts = new Map();
  return fitting
    .filter(({ weight, entry: { kind, title } }) => {
      const count = (counts.get(title) ?? 0) + 1;
      counts.set(title, count);
      return weight >= least && (kind !== 'Field' || count <= FIELDS_ALIKE_MAX);
    })
    .slice(0, SHOWN_MAX)
    .map(({ entry }) => entry);
}
