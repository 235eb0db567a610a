// Decodes names and values of queries and forms (WHATWG URL Standard, section 5.1), and parses names that are nested by brackets, such as
// `filter[status]` and `items[0][price]`.

/** Whether decoding can change the text. */
export function isEncoded(text: string): boolean {
  return text.includes('%') || text.includes('+');
}

/** Decodes escapes, and a plus as a space. Returns undefined for a broken escape and for an escape that is not UTF-8. */
export function decodeFormText(text: string): string | undefined {
  if (!isEncoded(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** A bracket may be empty, and holds no bracket itself. */
const BRACKETS = /^(?:\[[^[\]]*\])+$/;

/** Parses `[a][b]` into a, b; returns undefined for any other text. */
export function keysOfBrackets(brackets: string): string[] | undefined {
  return BRACKETS.test(brackets) ? brackets.slice(1, -1).split('][') : undefined;
}
