// Turns problems found by the linter and the parsers into mistakes with file, line and remedy.

import { type Document, getLineColLocation, type NormalizedProblem } from '@redocly/openapi-core';
import { shownPath } from '../../shared/file-text.ts';
import { closest, type Mistake } from '../../shared/mistakes.ts';
import { readSource } from '../../shared/yaml-source.ts';
import { isObject, pathOf, valueAt } from '../pointer.ts';
import { isAboutNothing, pathIn, unexpectedIn } from './lint-causes.ts';
import { isPathWithoutSlash } from './lint-verdict.ts';

/** Returns the mistake of a file that parses but is not a usable OpenAPI document. */
export function unfitFor({ parsed }: Document): Pick<Mistake, 'reason' | 'remedy'> | undefined {
  const begin = 'Begin it with "openapi: 3.1.1", info and paths.';
  if (typeof parsed !== 'object' || parsed === null) return { reason: 'the file holds no document.', remedy: begin };
  if ('swagger' in parsed && String(parsed.swagger) !== '2.0')
    return { reason: `this is a document of Swagger ${parsed.swagger}.`, remedy: 'Convert it to OpenAPI 3.0 or 3.1.' };
  if (!('openapi' in parsed) && !('swagger' in parsed) && 'paths' in parsed)
    return { reason: 'the version of OpenAPI is missing.', remedy: 'Begin the file with "openapi: 3.1.1".' };
  return undefined;
}

/** Returns one mistake per problem. A file that does not parse is reported once, and not for every reference into it. */
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
  const path = pathIn(problem);
  const message = problem.message.replace(/\s+/g, ' ').replace(/\.$/, '');
  const content = () => (location ? contentOf(location.source.absoluteRef) : undefined);
  const told = toldAs(problem, message, path, content) ?? { reason: `${message}.`, remedy: remedyFor(problem, path) };
  return {
    file,
    line: at?.start.line,
    column: at?.start.col,
    ...(path.length > 0 ? { place: path.join('.') } : {}),
    ...told,
  };
}

/** Returns better words for messages of the linter that do not name the cause. */
function toldAs(
  { ruleId }: NormalizedProblem,
  message: string,
  path: readonly string[],
  content: () => unknown,
): Pick<Mistake, 'reason' | 'remedy'> | undefined {
  if (message === DANGLING) return danglingAt(content(), path);
  if (ruleId !== 'struct') return undefined;
  if (isAboutNothing(message)) {
    const reason = `"${path.at(-1)}" has no content.`;
    return { reason, remedy: 'Indent what belongs to it deeper than itself, or remove it.' };
  }
  if (path.at(-1) === 'type' && message.startsWith('`type` can be one of')) return typeAt(content(), path, message);
  const unexpected = unexpectedIn(message) ?? '';
  if (!KEYWORDS_OF_31.has(unexpected) || !path.some((name) => /^schemas?$/.test(name))) return undefined;
  return { reason: `OpenAPI 3.0 has no ${unexpected}.`, remedy: BEGIN_WITH_31 };
}

const BEGIN_WITH_31 = 'Begin the document with "openapi: 3.1.1".';

/** Keywords of schemas that only OpenAPI 3.1 has. */
const KEYWORDS_OF_31 = new Set(
  'const contains minContains maxContains if then else prefixItems patternProperties propertyNames dependentRequired dependentSchemas $defs'.split(
    ' ',
  ),
);

/** Returns the mistake of a list of types, or of the type null, in OpenAPI 3.0. In 3.1, the linter names null as a possible type. */
function typeAt(root: unknown, path: readonly string[], message: string) {
  const types = [valueAt(root, path)].flat();
  const others = types.filter((type) => type !== 'null');
  if (message.includes('"null"') || (types.length < 2 && others.length > 0)) return undefined;
  const [only] = others;
  const single = only === undefined ? 'nullable: true' : `type: ${only} and nullable: true`;
  const instead = others.length > 1 ? 'anyOf with one type each' : single;
  return {
    reason: 'a schema of OpenAPI 3.0 has one type, and null is none.',
    remedy: `Write ${instead}, or begin the document with "openapi: 3.1.1".`,
  };
}

const DANGLING = "Can't resolve $ref";

/** Names the dangling reference at a place of a file, and the most similar reference that exists. */
function danglingAt(root: unknown, path: readonly string[]): Pick<Mistake, 'reason' | 'remedy'> | undefined {
  const holder = valueAt(root, path);
  const reference = isObject(holder) ? holder.$ref : undefined;
  if (typeof reference !== 'string') return undefined;
  const [, parent = '', name = ''] = /^#(.*)\/([^/]+)$/.exec(reference) ?? [];
  const beside = name === '' ? undefined : valueAt(root, pathOf(parent));
  const nearest = isObject(beside) ? closest(name, Object.keys(beside)) : undefined;
  const remedy = nearest === undefined ? REMEDIES['no-unresolved-refs'] : `Did you mean "#${parent}/${nearest}"?`;
  return { reason: `${DANGLING} ${JSON.stringify(reference)}.`, remedy: remedy as string };
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
  'gateway/operations-have-a-method': 'Write a method such as get or post, in small letters.',
  'gateway/members-are-in-an-operation': 'Indent it deeper, below its method.',
  'gateway/content-has-media-types': 'Write a media type such as application/json, and the schema below it.',
  'gateway/statuses-exist': 'Write a status such as "200", a range such as "2XX", or default.',
  'gateway/parameters-have-a-schema': 'Write it below schema, as in schema: { type: integer }.',
  'gateway/parameters-are-declared-once': 'Remove one of the two.',
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
  'gateway/json-has-a-schema': 'Add its schema, or "schema: {}" if any JSON is meant.',
  'gateway/patterns-can-run': 'Correct the regular expression, or take repetitions out of repetitions.',
};

function remedyFor({ ruleId, suggest, message }: NormalizedProblem, path: readonly string[]): string {
  if (ruleId === 'struct' && isPathWithoutSlash(path)) return `Paths begin with a slash. Did you mean "/${path[1]}"?`;
  const unexpected = unexpectedIn(message);
  // The linter's own suggestions for a name may be far from it.
  const likely = unexpected === undefined ? suggest[0] : closest(unexpected, suggest);
  if (likely !== undefined) return `Did you mean "${likely}"?`;
  if (unexpected !== undefined) return 'Correct its name or its indentation, or remove it.';
  return REMEDIES[ruleId] ?? 'Make the document valid OpenAPI 3.0 or 3.1 at this place.';
}
