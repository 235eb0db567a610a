// The grammar of the HTTP/1.1 heads that the gateway reads, from clients and from upstreams, and of the fields that it sends. The grammar
// is strict, so that it contains no form that two parsers could read differently.

/** Characters of a token, for names of fields and methods (RFC 9110 section 5.6.2). */
const TOKEN_CHARACTERS = "!#$%&'*+\\-.^_`|~\\dA-Za-z";
/** Characters of a field value (RFC 9110 section 5.5). The tab is the only control character among them, so CR, LF and NUL are excluded. */
const VALUE_CHARACTERS = '\\t -~\\x80-\\xff';

/** Source of a token. */
export const TOKEN = `[${TOKEN_CHARACTERS}]+`;
/** Source of what may follow the colon of a field line. */
export const FIELD_REST = `[${VALUE_CHARACTERS}]*`;
/** Source of a field line without its end (RFC 9112 section 5): no space before the colon, no folding. */
export const FIELD_LINE = `${TOKEN}:${FIELD_REST}`;

const whole = (source: string) => new RegExp(`^${source}$`);
const TOKEN_ONLY = whole(TOKEN);
const NOT_IN_FIELD = new RegExp(`[^${VALUE_CHARACTERS}]`);
/** Tried before `NOT_IN_FIELD`, because nearly every value is visible ASCII, and a search for one range takes half the time. */
const NOT_VISIBLE = /[^ -~]/;
/** Up to this length, a loop over the characters takes less time than a regular expression. */
const LOOPED_CHARACTERS_MAX = 32;

export const HEAD_END = Buffer.from('\r\n\r\n');

export function isToken(text: string): boolean {
  return TOKEN_ONLY.test(text);
}

/** Whether a value can be sent in a field line. */
export function isFieldValue(text: string): boolean {
  const isVisible = text.length <= LOOPED_CHARACTERS_MAX ? isVisibleAscii(text) : !NOT_VISIBLE.test(text);
  return isVisible || !NOT_IN_FIELD.test(text);
}

function isVisibleAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

/**
 * Returns the value between a colon and a line end. Strips only spaces and tabs. `trim` would strip other white space, too, and read
 * `chunked` where another parser reads another value.
 */
export function fieldValueIn(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (start < end && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Removes leading zeros of a length, because not every server reads a length with them as the same number. */
export function plainLength(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
