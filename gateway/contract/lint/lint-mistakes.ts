// Turns problems found by the linter and the parsers into mistakes with file, line and remedy.

import { type Document, getLineColLocation, type NormalizedProblem } from '@redocly/openapi-core';
import { shownPath } from '../../shared/file-text.ts';
import { closest, type Mistake } from '../../shared/mistakes.ts';
import { isPage, PAGE } from '../../shared/yaml-errors.ts';
import { positionsIn, readSource } from '../../shared/yaml-source.ts';
import { circularReference, EXISTING_ONLY } from './dangling-references.ts';
import { pathIn, unexpectedIn } from './lint-causes.ts';
import { isPathBesidePaths, isPathWithoutSlash } from './lint-verdict.ts';
import { explanationOf } from './plain-words.ts';

/** A version of OpenAPI, which has three numbers. */
const KNOWN_VERSION = /^3\.[012]\.\d+(-.+)?$/;
const LATEST = ['3.0.4', '3.1.1', '3.2.0'];

/** Returns the mistake of a version that does not exist, or is written as a number. @param version the text in the file */
function unknownVersion(version: string): Pick<Mistake, 'reason' | 'remedy'> {
  const [near] = LATEST.filter((one) => version.startsWith(one.slice(0, 3)));
  if (version.startsWith('2'))
    return {
      reason: `"openapi: ${version}" is not a version of OpenAPI.`,
      remedy: 'Write swagger: "2.0", or convert it.',
    };
  return {
    reason: `"openapi: ${version}" is not a version of OpenAPI.`,
    remedy:
      near === undefined
        ? `Write the one that the document keeps to: ${LATEST.join(', ')}.`
        : `Did you mean "openapi: ${near}"?`,
  };
}

/** Returns the mistake of a file that parses but is not a usable OpenAPI document. */
export function unfitFor({ parsed, source }: Document): Pick<Mistake, 'reason' | 'remedy'> | undefined {
  if (isPage(source.body)) return { reason: PAGE.reason, remedy: PAGE.remedy };
  const begin = 'Begin it with "openapi: 3.1.1", info and paths.';
  if (typeof parsed !== 'object' || parsed === null) return { reason: 'the file holds no document.', remedy: begin };
  if ('swagger' in parsed && String(parsed.swagger) !== '2.0')
    return { reason: `this is a document of Swagger ${parsed.swagger}.`, remedy: 'Convert it to OpenAPI 3.0 or 3.1.' };
  const newer = ['components', 'servers', 'webhooks'].find((name) => 'swagger' in parsed && name in parsed);
  if (newer !== undefined && !('definitions' in parsed)) {
    const reason = `the file begins as Swagger 2.0, and has ${newer}, which only OpenAPI from 3.0 on has.`;
    return { reason, remedy: 'Begin it with "openapi: 3.0.4" in place of swagger.' };
  }
  if ('openapi' in parsed && !(typeof parsed.openapi === 'string' && KNOWN_VERSION.test(parsed.openapi)))
    return unknownVersion(/^[\s{]*["']?openapi["']?\s*:\s*["']?v?([\w.-]+)/m.exec(source.body)?.[1] ?? '');
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
    .filter(({ message }) => !isOfWrongTemplate(message))
    .map((problem) => {
      const { source } = problem.location[0] ?? {};
      return source && unparsed.includes(problem)
        ? unreadable(source.absoluteRef, new Error(problem.message))
        : toMistake(problem, shownPath(source?.absoluteRef ?? file), contentOf);
    });
}

/** Whether a parameter is missing in a path only because the path has it in another form, which is reported. */
function isOfWrongTemplate(message: string): boolean {
  const [, name = '', path = ''] = /^Path parameter `(\w+)` is not used in the path `(.*)`/.exec(message) ?? [];
  return path.split('/').some((segment) => [`:${name}`, `<${name}>`, `{${name}`, `${name}}`].includes(segment));
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
  const explanation = explanationOf(problem, message, path, content) ?? {
    reason: `${message}.`,
    remedy: remedyFor(problem, path),
  };
  return {
    file,
    line: at?.start.line,
    column: at?.start.col,
    ...(path.length > 0 ? { place: path.join('.') } : {}),
    ...explanation,
    ...(message.endsWith('operations are not served') && { refusesAll: true }),
  };
}

/** Returns the mistake of a file that does not parse. Redocly's error lacks the position, so the gateway's own parser determines it. */
export function unreadable(file: string, error: unknown): Mistake {
  const own: Mistake[] = [];
  const { value } = readSource(file, own);
  const [first] = own;
  if (first) return first;
  const circle = circularReference(value);
  if (circle !== undefined)
    return {
      file: shownPath(file),
      ...positionsIn(file, [{ path: circle, isKey: false }])[0],
      place: circle.join('.'),
      reason: 'the $ref leads to itself, and never to a schema.',
      remedy: 'Point it at another one, or write the schema here.',
    };
  const reason = error instanceof Error ? error.message.split('\n')[0] : 'unknown error';
  return {
    file: shownPath(file),
    line: 1,
    reason: `this is not an OpenAPI document (${reason}).`,
    remedy: 'Begin it with "openapi: 3.1.1", info and paths.',
  };
}

const REMEDIES: Readonly<Record<string, string>> = {
  'no-unresolved-refs': EXISTING_ONLY,
  'gateway/texts-are-no-references': 'Write the value itself.',
  'path-parameters-defined': 'Make the parameters in the path and those that are declared the same.',
  'gateway/operations-have-a-method': 'Write a method such as get or post, in small letters.',
  'gateway/members-are-in-an-operation': 'Indent it deeper, below its method.',
  'gateway/content-has-media-types': 'Write a media type such as application/json, and the schema below it.',
  'gateway/references-fit-their-place':
    'Refer to that section; a schema is written as in schema: { $ref: "#/components/schemas/Name" }.',
  'gateway/references-stand-alone': 'Remove the $ref, or what is beside it.',
  'gateway/statuses-exist': 'Write a status such as "200", a range such as "2XX", or default.',
  'gateway/parameters-have-a-schema': 'Write it below schema, as in schema: { type: integer }.',
  'gateway/parameters-are-declared-once': 'Remove one of the two.',
  'gateway/paths-can-be-requested':
    'Declare parts of the query as parameters with in: query, and leave out a fragment.',
  'gateway/path-parameters-are-required': 'Add required: true.',
  'gateway/methods-are-served': 'No action is needed, unless clients need it.',
  'gateway/paths-are-written-once': 'Declare all methods below one of them, with the same names of parameters.',
  'gateway/security-schemes-exist': 'Define it under components.securitySchemes, or remove it.',
  'gateway/servers-have-no-credentials': 'Remove them, and set credential of the entry in upstreams.yaml.',
  'gateway/servers-are-served': 'List the server of the service first, or set basePath of the entry.',
  'gateway/extensions-have-a-meaning': 'Move it to the operation, the path or the top of the document.',
  'gateway/media-types-fit-headers': 'Write it with ASCII characters only.',
  'gateway/header-names-fit-headers': 'Write it with letters, digits and hyphens only.',
  'gateway/patterns-are-exact':
    'Write it without look-around and back references, or add a maxLength that is short enough.',
  'gateway/formats-are-exact': 'Add a maxLength, so that clients know.',
  'gateway/nullable-admits-null':
    'Write "null" into the type, as in [string, "null"]; beside a $ref, write anyOf with { type: "null" }.',
  'gateway/json-has-a-schema': 'Add its schema, or "schema: {}" if any JSON is meant.',
  'gateway/patterns-can-run': 'Correct the regular expression.',
  'gateway/patterns-mean-what-they-say': 'Write it without slashes and flags, and a class as in [A-Za-z].',
  'gateway/enums-have-values': 'List each value once, or remove enum.',
  'gateway/bounds-fit-their-type': 'Remove it, or correct what is beside it.',
  'gateway/formats-are-spelt-right': 'Write type: string, or remove it.',
  'gateway/keywords-exist': 'Write it in quotes, as in "#/components/schemas/Name".',
};

function remedyFor({ ruleId, suggest, message, location }: NormalizedProblem, path: readonly string[]): string {
  if (ruleId === 'struct' && isPathWithoutSlash(path))
    return `Paths begin with a slash. Did you mean "/${path[1]?.replace(/^https?:\/\/[^/]*\/?/i, '')}"?`;
  const [, bare = '', query] = /^([^?#]*)\?(.*)$/.exec(path[1] ?? '') ?? [];
  if (ruleId === 'gateway/paths-can-be-requested' && query !== undefined) {
    const names = query.split('&').map((part) => JSON.stringify(part.split('=')[0]));
    return `Write ${bare}, and declare ${names.join(', ')} among its parameters, with in: query.`;
  }
  if (ruleId === 'gateway/references-stand-alone' && path.at(-3) === 'parameters')
    return 'Begin another parameter with a dash of its own, or remove them.';
  if (ruleId === 'gateway/path-parameters-are-required' && path.at(-1) === 'required') return 'Change it to true.';
  if (ruleId === 'struct' && isPathBesidePaths(path)) return 'Indent it deeper, below paths.';
  const unexpected = unexpectedIn(message);
  // The linter's own suggestions for a name may be far from it.
  const likely = unexpected === undefined ? suggest[0] : closest(unexpected, suggest);
  if (likely !== undefined) return `Did you mean "${likely}"?`;
  if (unexpected !== undefined) return 'Correct its name or its indentation, or remove it.';
  return REMEDIES[ruleId] ?? `Make the document valid ${versionIn(location[0]?.source.body ?? '')} at this place.`;
}

/** Returns the specification that the text of a document names. A part of a document names none. */
function versionIn(text: string): string {
  const [, name, version] = /^[\s{]*["']?(openapi|swagger)["']?\s*:\s*["']?(\d+\.\d+)/m.exec(text) ?? [];
  return name === undefined ? 'OpenAPI' : `${name === 'swagger' ? 'Swagger' : 'OpenAPI'} ${version}`;
}
