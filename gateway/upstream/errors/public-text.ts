// Filters the texts of an upstream's error. Every text that clients get passes this filter: sentences, names of fields, and the values of
// constraints. Pure.

const TEXT_MAX = 500;
const NAME_MAX = 200;
const VALUES_MAX = 100;

/** Signs of a stack trace, a class, a file, a query or a host of the service. Each pattern gets a text of bounded length. */
const INTERNAL_TEXT = [
  /\r|\n/,
  /\bnested exception\b|\bTraceback\b|\bSQLSTATE\b|\bORA-\d/i,
  /\bat [\w$.<>]+ ?\(/,
  /\b(?:[a-z]\w*\.){2,}[A-Z]\w*/,
  /\b[A-Z][a-z]+\w*(?:\.[A-Z][a-z]\w*)+/,
  /\b[A-Z]\w*(?:::\w+)+/,
  /(?:^|[\s"'(`])\/(?:usr|home|var|app|srv|opt|root|tmp|etc)\//,
  /[A-Za-z]:\\|node_modules|site-packages/,
  /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b.*\b(?:FROM|VALUES|SET|WHERE)\b/,
  /\bselect\b.+\bfrom\b.+\bwhere\b|\binsert into \S+ ?\(|\bdelete from \S+ where\b|\bupdate \S+ set \S+ ?=/i,
  /\bE(?:CONN[A-Z]+|NOTFOUND|AI_AGAIN|HOSTUNREACH|TIMEDOUT|PIPE)\b/,
  /\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}):\d{2,5}\b/,
  /\b(?:10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)(?:\.\d{1,3}){2,3}\b/,
  /\b(?:jdbc|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?|ldaps?|file):/i,
];

/** The characters of field names, in the forms of the frameworks: `items[0].qty`, `@type`, `First name`, `xml:lang`. */
const NAME_FORM = /^[\p{L}\p{M}\p{N}_$@:.[\] #-]*$/u;

export function hasInternals(text: string): boolean {
  return INTERNAL_TEXT.some((pattern) => pattern.test(text));
}

/** Returns a sentence for clients of at most 500 characters; undefined if it shows internals. */
export function publicSentence(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const text = value.slice(0, TEXT_MAX);
  return hasInternals(text) ? undefined : text;
}

/** Returns the name of a field, of at most 200 characters; undefined if the value is not a name, or shows internals. */
export function publicName(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).slice(0, NAME_MAX);
  return NAME_FORM.test(text) && !hasInternals(text) ? text : undefined;
}

/** Returns the part of a contract that a field violates: names with numbers, texts, and lists of these. */
export function publicConstraint(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const found: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value).slice(0, VALUES_MAX)) {
    const known = Array.isArray(member) ? member.slice(0, VALUES_MAX).map(scalarOf) : scalarOf(member);
    const isWhole = Array.isArray(known) ? !known.includes(undefined) : known !== undefined;
    if (/^[A-Za-z][\w-]{0,63}$/.test(name) && isWhole) found[name] = known;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function scalarOf(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? value : publicSentence(value);
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : undefined;
}
