// Turns problems found by the linter and the parsers into mistakes with file, line and remedy.

import { type Document, getLineColLocation, type NormalizedProblem } from '@redocly/openapi-core';
import { shownPath } from '../../shared/file-text.ts';
import { closest, type Mistake } from '../../shared/mistakes.ts';
import { readSource } from '../../shared/yaml-source.ts';
import { isObject, pathOf, valueAt } from '../pointer.ts';
import { isPathWithoutSlash } from './lint-verdict.ts';

/** Returns the mistake of a file that parses but is no usable OpenAPI document. */
export function unfitFor({ parsed }: Document): Pick<Mistake, 'reason' | 'remedy'> | undefined {
  const begin = 'Begin it with "openapi: 3.1.1", info and paths.';
  if (typeof parsed !== 'object' || parsed === null) return { reason: 'the file holds no document.', remedy: begin };
  if ('swagger' in parsed && String(parsed.swagger) !== '2.0')
    return { reason: `this is a document of Swagger ${parsed.swagger}.`, remedy: 'Convert it to OpenAPI 3.0 or 3.1.' };
  if (!('openapi' in parsed) && !('swagger' in parsed) && 'paths' in parsed)
    return { reason: 'the version of OpenAPI is missing.', remedy: 'Begin the file with "openapi: 3.1.1".' };
  return undefined;
}

/** Returns one mistake per problem. A file that does not parse is reported once, not again for every reference into it. */
export function toMistakes(problems: readonly NormalizedProblem[], file: string): Mistake[] {
  const unparsed = problems.filter(({ message }) => message.startsWith(UNPARSED));
  const values = new Map<string, unknown>();
  const contentOf: ContentOf = (name) => {
    if (!values.has(name)) values.set(name, readSource(name, []).value);
    return values.get(name);
  };
  const causes = unparsed.map(({ message }) => message.slice(UNPARSED.length));
  return problems
    .filter((problem) => unparsed.includes(problem) || !causes.some((cause) => problem.message.endsWith(cause)))
    .map((problem) => {
      const { source } = problem.location[0] ?? {};
      return source && unparsed.includes(problem)
        ? unreadable(source.absoluteRef, new Error(problem.message))
        : toMistake(problem, shownPath(source?.absoluteRef ?? file), contentOf);
    });
}

const UNPARSED = 'Failed to parse: ';

/** The content of a file, which is parsed once for all of its mistakes. */
type ContentOf = (file: string) => unknown;

function toMistake(problem: NormalizedProblem, file: string, contentOf: ContentOf): Mistake {
  const location = problem.location[0];
  const at = location ? getLineColLocation(location) : undefined;
  const pointer = location && 'pointer' in location ? location.pointer?.replace(/^#/, '') : undefined;
  const message = problem.message.replace(/\s+/g, ' ').replace(/\.$/, '');
  const dangling =
    location && message === DANGLING ? danglingAt(contentOf(location.source.absoluteRef), pointer ?? '') : undefined;
  return {
    file,
    line: at?.start.line,
    column: at?.start.col,
    ...(pointer ? { place: pathOf(pointer).join('.') } : {}),
    reason: `${message}${dangling === undefined ? '' : ` ${JSON.stringify(dangling.reference)}`}.`,
    remedy: dangling?.nearest === undefined ? remedyFor(problem) : `Did you mean "${dangling.nearest}"?`,
  };
}

const DANGLING = "Can't resolve $ref";

/** Returns the dangling reference at a place of a file, and the most similar reference that exists. */
function danglingAt(root: unknown, pointer: string): { reference: string; nearest: string | undefined } | undefined {
  const holder = valueAt(root, pathOf(pointer));
  const reference = isObject(holder) ? holder.$ref : undefined;
  if (typeof reference !== 'string') return undefined;
  const [, parent = '', name = ''] = /^#(.*)\/([^/]+)$/.exec(reference) ?? [];
  const beside = name === '' ? undefined : valueAt(root, pathOf(parent));
  const nearest = isObject(beside) ? closest(name, Object.keys(beside)) : undefined;
  return { reference, nearest: nearest && `#${parent}/${nearest}` };
}

/** Returns the mistake of a file that does not parse. Redocly's error lacks the position, so the gateway's own parser determines it. */
export function unreadable(file: string, error: unknown): Mistake {
  const own: Mistake[] = [];
  readSource(file, own);
  const [first] = own;
  if (first) return first;
  const reason = error instanceof Error ? error.message.split('\n')[0] : 'unknown error';
  return {
    file: shownPath(file),
    line: 1,
    reason: `this is not an OpenAPI document (${reason}).`,
    remedy: 'Begin it with "openapi: 3.1.1", info and paths.',
  };
}

const REMEDIES: Readonly<Record<string, string>> = {
  'no-unresolved-refs':
    'Point the $ref at something that exists, in this file or in one below the contracts directory.',
  'gateway/texts-are-no-references': 'Write the value itself.',
  'path-parameters-defined': 'Make the parameters in the path and those that are declared the same.',
  'gateway/paths-can-be-requested':
    'Declare parts of the query as parameters with in: query, and leave out a fragment.',
  'gateway/methods-are-served': 'Nothing is to be done, unless clients need it.',
  'gateway/servers-are-served': 'Put the one that the service has first, or set basePath of the entry.',
  'gateway/extensions-have-a-meaning': 'Move it to the operation, the path or the top of the document.',
  'gateway/media-types-fit-headers': 'Write it with ASCII characters only.',
  'gateway/header-names-fit-headers': 'Write it with letters, digits and hyphens only.',
  'gateway/patterns-are-exact':
    'Write it without look-around and back references, or add a maxLength that is short enough.',
  'gateway/formats-are-exact': 'Add a maxLength, so that clients know.',
  'gateway/nullable-admits-null':
    'Write "null" into the type, as in [string, "null"]; beside a $ref, write anyOf with { type: "null" }.',
  'gateway/patterns-can-run': 'Correct the regular expression, or take repetitions out of repetitions.',
};

function remedyFor({ ruleId, suggest, location: [location] }: NormalizedProblem): string {
  const path = location && 'pointer' in location ? pathOf((location.pointer ?? '').replace(/^#/, '')) : [];
  if (ruleId === 'struct' && isPathWithoutSlash(path)) return `Paths begin with a slash. Did you mean "/${path[1]}"?`;
  if (suggest.length > 0) return `Did you mean ${suggest.map((name) => `"${name}"`).join(' or ')}?`;
  return REMEDIES[ruleId] ?? 'Make the document valid OpenAPI 3.0 or 3.1 at this place.';
}
