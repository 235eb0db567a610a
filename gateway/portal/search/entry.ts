// One result of the search, as the index contains it and `portal/assets/search-rank.js` reads it.

/**
 * `context`: method and path of an operation, or the page of a section or a field. `words`: more words, which begin with the id for an
 * operation. `topic`: as in `topics.ts`.
 */
export type SearchEntry = readonly [
  kind: string,
  title: string,
  path: string,
  context: string,
  words: string,
  topic?: string,
];

/** The kind of everything that only operators of the API may use, which readers see on request. */
export const OPERATORS = 'Operators';
