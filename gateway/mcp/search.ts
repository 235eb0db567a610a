// Implements mode `search`, in which three tools find, describe and call operations, instead of a list that would fill the context of a
// model.

import { SEARCH_TOOLS } from './names.ts';
import { annotationsOf, summaryOf, type Tool } from './tool.ts';

const [SEARCH, DESCRIBE, CALL] = SEARCH_TOOLS;
type SearchTool = (typeof SEARCH_TOOLS)[number];

const RESULTS = { usual: 10, max: 25 } as const;
const QUERY_MAX = 200;
const WORDS_MAX = 12;
const DESCRIPTION_MAX = 160;

const READ_ONLY_HINTS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const OPERATION_NAME = { type: 'string', description: `The name, as ${SEARCH} gives it.` };

const DEFINITIONS: Readonly<Record<SearchTool, object>> = {
  [SEARCH]: {
    title: 'Search operations',
    description: `Finds operations of this API by words. Begin here, then read ${DESCRIBE}.`,
    inputSchema: objectSchema({
      query: { type: 'string', maxLength: QUERY_MAX, description: 'Words, such as: create customer. Empty: all.' },
      limit: { type: 'integer', minimum: 1, maximum: RESULTS.max, default: RESULTS.usual },
      offset: { type: 'integer', minimum: 0, default: 0 },
    }),
    annotations: READ_ONLY_HINTS,
  },
  [DESCRIBE]: {
    title: 'Describe an operation',
    description: 'Returns the description of an operation and the JSON Schema of its arguments.',
    inputSchema: objectSchema({ name: OPERATION_NAME }, ['name']),
    annotations: READ_ONLY_HINTS,
  },
  [CALL]: {
    title: 'Call an operation',
    description: `Calls an operation with the arguments that ${DESCRIBE} tells.`,
    inputSchema: objectSchema({ name: OPERATION_NAME, arguments: { type: 'object' } }, ['name']),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  },
};

function objectSchema(properties: object, required: readonly string[] = []): object {
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** The definitions as JSON texts. */
export const SEARCH_DEFINITIONS = SEARCH_TOOLS.map((name) => JSON.stringify({ name, ...DEFINITIONS[name] }));

export function isSearchTool(name: string): name is SearchTool {
  return Object.hasOwn(DEFINITIONS, name);
}

interface SearchQuestion {
  readonly query?: unknown;
  readonly limit?: unknown;
  readonly offset?: unknown;
}

/** The searched texts of each tool, in lower case. They are made once for each configuration. */
const indexes = new WeakMap<Tool, { readonly name: string; readonly all: string }>();

function indexOf(tool: Tool) {
  const known = indexes.get(tool);
  if (known !== undefined) return known;
  const { name, operation, source } = tool;
  const told = [
    name,
    source.title,
    source.tags.join(' '),
    operation.method,
    operation.path,
    source.description?.slice(0, 400),
  ];
  const index = { name: name.toLowerCase(), all: told.join(' ').toLowerCase() };
  indexes.set(tool, index);
  return index;
}

/**
 * Finds tools by words. Tools with more of the words come first, and a word in the name has the highest weight. Returns the result, or a
 * sentence about a wrong argument.
 */
export function searchTools(tools: readonly Tool[], { query = '', limit = RESULTS.usual, offset = 0 }: SearchQuestion) {
  if (typeof query !== 'string' || query.length > QUERY_MAX)
    return `query must be a text of at most ${QUERY_MAX} characters.`;
  if (!isWhole(limit, 1, RESULTS.max)) return `limit must be a whole number from 1 to ${RESULTS.max}.`;
  if (!isWhole(offset, 0, 100_000)) return 'offset must be a whole number from 0.';
  const words =
    query
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, WORDS_MAX) ?? [];
  const found = tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0 || words.length === 0)
    .sort((one, other) => other.score - one.score);
  const shown = found.slice(offset, offset + limit).map(({ tool }) => ({
    ...summaryOf(tool, DESCRIPTION_MAX),
    read_only: annotationsOf(tool).readOnlyHint,
  }));
  const hasMore = offset + shown.length < found.length;
  return { operations: shown, total: found.length, ...(hasMore ? { next_offset: offset + shown.length } : {}) };
}

function scoreOf(tool: Tool, words: readonly string[]): number {
  const { name, all } = indexOf(tool);
  return words.reduce((sum, word) => sum + (all.includes(word) ? 10 : 0) + (name.includes(word) ? 5 : 0), 0);
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}
