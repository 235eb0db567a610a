// Pure: header fields with parameters, and the delimiter of a form of several parts, which the field Content-Type names.

/** The value of a field and its parameters. */
interface ParameterizedField {
  /** Lower case. */
  readonly value: string;
  /** The parameters, by name in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const VALUE = /[!#$%&'*+.^_`|~0-9A-Za-z/-]+/y;
/** A quoted text without escapes, because some readers drop the backslash, and others keep it as part of a Windows path. */
const QUOTED = /"([^"\\]*)"/y;

/**
 * Parses a header field of the form `value; name=value` strictly, because parsers read irregular fields in different ways. Returns
 * undefined for a field that breaks RFC 9110 section 5.6.6. It also does so for a repeated parameter, a parameter in the extended notation
 * (`filename*`, RFC 8187), and a backslash in a quoted text. The time is linear.
 */
export function parseParameterizedField(text: string): ParameterizedField | undefined {
  const value = matchAt(VALUE, text, 0);
  if (value === undefined) return undefined;
  const parameters = new Map<string, string>();
  let at = pastSpace(text, value.end);
  while (at < text.length) {
    if (text[at] !== ';') return undefined;
    at = pastSpace(text, at + 1);
    if (at === text.length || text[at] === ';') continue;
    const name = matchAt(TOKEN, text, at);
    if (name === undefined || name.text.includes('*') || text[name.end] !== '=') return undefined;
    const given = matchAt(TOKEN, text, name.end + 1) ?? matchAt(QUOTED, text, name.end + 1);
    const key = name.text.toLowerCase();
    if (given === undefined || parameters.has(key)) return undefined;
    parameters.set(key, given.text);
    at = pastSpace(text, given.end);
  }
  return { value: value.text.toLowerCase(), parameters };
}

/** Returns the match at an offset, or the group of the match if the pattern has one. */
function matchAt(pattern: RegExp, text: string, at: number): { text: string; end: number } | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? undefined : { text: match[1] ?? match[0], end: pattern.lastIndex };
}

function pastSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

const FORM = /^multipart\/form-data\s*;/i;

/** Returns the delimiter of a multipart form; undefined for any other body, and if the media type names no delimiter. */
export function delimiterOfForm(contentType = ''): string | undefined {
  const boundary = FORM.test(contentType) && parseParameterizedField(contentType)?.parameters.get('boundary');
  return boundary ? `--${boundary}` : undefined;
}
