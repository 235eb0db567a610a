// Names with brackets, `filter[status]` and `items[0][price]`: how queries and forms spell nested values.

/** A bracket may be empty, and holds no bracket itself. */
const BRACKETS = /^(?:\[[^[\]]*\])+$/;

/** Parses `[a][b]` into a, b; returns `undefined` for any other text. */
export function keysOfBrackets(brackets: string): string[] | undefined {
  return BRACKETS.test(brackets) ? brackets.slice(1, -1).split('][') : undefined;
}
