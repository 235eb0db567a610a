// An example as text of a page.

/** Texts as they are, other values as JSON. */
export function exampleText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
