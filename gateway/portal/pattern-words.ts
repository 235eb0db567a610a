// Pure: puts regular expressions into words, as far as they are a row of characters and sets. For example, `^cus_[a-z0-9]{8,}$` is "cus_,
// then 8 or more lowercase letters or digits".

const PARTS_MAX = 6;
/** Matches a literal, an escaped character, or a set, and its quantifier. */
const PART = /(\[(?!\^)(?:\\.|[^\]\\])+\]|\\.|[^\\[\](){}|?*+^$.])(\?|\*|\+|\{\d+(?:,\d*)?\})?(?![?*+])/sy;

const SETS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  'a-z': ['lowercase letter', 'lowercase letters'],
  'A-Z': ['capital letter', 'capital letters'],
  'a-zA-Z': ['letter', 'letters'],
  '0-9': ['digit', 'digits'],
  '1-9': ['digit from 1 to 9', 'digits from 1 to 9'],
};

/** Everything but control characters, and often but line separators, as a rule for names and titles. */
const NO_CONTROLS = /^\^\[\^\\u0000-\\u001f\\u007f(-\\u009f)?(\\u2028\\u2029)?\][*+]\$$/i;

/** Returns the words; undefined if they cannot express the expression, or if it matches a part of a text. */
export function patternWords(source: string): string | undefined {
  if (NO_CONTROLS.test(source)) return 'no control characters';
  const [, inner] = /^\^([\s\S]+)\$$/.exec(source) ?? [];
  if (inner === undefined || inner.endsWith('\\')) return undefined;
  const [, choice] = /^\((?:\?:)?([\w -]+(?:\|[\w -]+)+)\)$/.exec(inner) ?? [];
  if (choice !== undefined) return choice.split('|').length > PARTS_MAX ? undefined : joinedWords(choice.split('|'));
  const parts = partsOf(inner);
  return parts === undefined || parts.length > PARTS_MAX ? undefined : parts.join(', then ');
}

function partsOf(inner: string): string[] | undefined {
  const parts: string[] = [];
  // The spellings of a literal. For example, `cust?_` has two.
  let literals = [''];
  const endLiteral = () => {
    if (literals.some((one) => one !== '')) parts.push(joinedWords(literals));
    literals = [''];
  };
  for (let at = 0; at < inner.length; at = PART.lastIndex) {
    PART.lastIndex = at;
    const [, atom, often] = PART.exec(inner) ?? [];
    if (atom === undefined) return undefined;
    const set = setOf(atom);
    const isLiteral = set === undefined && !/^(\\[a-zA-Z0-9]|\[)/.test(atom);
    const character = atom.replace('\\', '');
    if (isLiteral && often === undefined) literals = literals.map((one) => one + character);
    else if (isLiteral && often === '?' && literals.length === 1 && literals[0] !== '')
      literals = literals.flatMap((one) => [one, one + character]);
    else if (set === undefined) return undefined;
    else {
      endLiteral();
      parts.push(countedWords(set, often));
    }
  }
  endLiteral();
  return parts;
}

type Words = readonly [one: string, many: string];

/** Returns the words for `\d` and for a set; undefined for other atoms, and for sets of other ranges. */
function setOf(atom: string): Words | undefined {
  if (atom === '\\d') return SETS['0-9'];
  if (!atom.startsWith('[')) return undefined;
  const inner = atom
    .slice(1, -1)
    .replaceAll('\\d', '0-9')
    .replace(/A-Za-z/, 'a-zA-Z');
  const kinds: Words[] = [];
  const rest = inner.replace(/a-zA-Z|a-z|A-Z|[01]-9/g, (range) => {
    kinds.push(SETS[range] as Words);
    return '';
  });
  const singles = rest.replace(/^-|-$/, '\\-').match(/\\[^a-zA-Z0-9]|[^\\-]/gs) ?? [];
  if (singles.join('').length !== rest.replace(/^-|-$/, '\\-').length) return undefined;
  const named = singles.map((one): Words => (one === ' ' ? ['space', 'spaces'] : twice(one.replace('\\', ''))));
  const all = [...kinds, ...named];
  const sideText = (side: 0 | 1) => all.map((words) => words[side]);
  return [joinedWords(sideText(0)), joinedWords(sideText(1))];
}

function twice(text: string): Words {
  return [text, text];
}

function joinedWords(words: readonly string[]): string {
  const [last = ''] = words.slice(-1);
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

function countedWords([one, many]: Words, often: string | undefined): string {
  if (often === undefined) return `1 ${one}`;
  if (often === '?') return `at most 1 ${one}`;
  if (often === '*') return `any number of ${many}`;
  if (often === '+') return `1 or more ${many}`;
  const [, min = '', comma, max = ''] = /^\{(\d+)(,?)(\d*)\}$/.exec(often) ?? [];
  if (comma === '') return `${min} ${min === '1' ? one : many}`;
  return max === '' ? `${min} or more ${many}` : `${min} to ${max} ${many}`;
}
