// One find of the search, as the index has it and `portal/assets/search-rank.js` reads it.

/**
 * `context`: method and path of an operation, or the page of a section or a field. `words`: more words; those of an operation begin with
 * its id. `topic`: as in `topics.ts`.
 */
export type SearchEntry = readonly [
  kind: string,
  title: string,
  path: string,
  context: string,
  words: string,
  topic?: string,
];

/** The kind of everything that only operators of the API may use: readers see it on request. */
export const OPERATORS = 'Operators';
