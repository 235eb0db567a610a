// The encoding of names and values in queries and forms (WHATWG URL Standard, section 5.1).

/** Whether decoding can change the text. */
export function isEncoded(text: string): boolean {
  return text.includes('%') || text.includes('+');
}

/** A plus is a space. Returns `undefined` for a broken escape and for one that is not UTF-8. */
export function decodeFormText(text: string): string | undefined {
  if (!isEncoded(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
