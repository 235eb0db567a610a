// Decides whether a problem of the linter is a mistake, a warning, or nothing. A problem is a mistake if the gateway would enforce other
// rules than the author means. Contracts come from other tools, which break OpenAPI in places without an effect.

import type { Document, NormalizedProblem } from '@redocly/openapi-core';
import { closest } from '../../shared/mistakes.ts';
import { wordSet } from '../../shared/text.ts';
import { isRequestable } from '../operations/routes.ts';
import { isRecord, objectAt, valueAt } from '../pointer.ts';
import { pathIn, unexpectedIn } from './lint-causes.ts';

export type Verdict = 'mistake' | 'warning' | 'accepted';

/** Members that decide which requests and answers pass. A member that is close to one of them is misspelt. */
const ENFORCED_KEYWORDS = wordSet(
  'type properties required items prefixItems additionalProperties patternProperties propertyNames enum const pattern format',
  'minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems contains',
  'minContains maxContains minProperties maxProperties allOf anyOf oneOf then else dependentRequired dependentSchemas nullable',
  'unevaluatedProperties unevaluatedItems readOnly writeOnly discriminator propertyName mapping paths components schemas parameters',
  'requestBody requestBodies responses content schema headers style explode allowReserved security securitySchemes bearerFormat',
  'servers variables operationId encoding post patch delete options trace query',
  'definitions securityDefinitions consumes produces basePath collectionFormat',
);

/** Members whose content the gateway does not enforce. */
const UNENFORCED_KEYWORDS = wordSet(
  'info externalDocs tags webhooks callbacks links examples example xml contact license summary description title',
  'deprecated flows openIdConnectUrl bearerFormat $comment',
);

/** Members that OpenAPI requires and the gateway does not need. */
const DISPENSABLE_MEMBERS = new Set(['title', 'version', 'description', 'responses', 'flows', 'openIdConnectUrl']);

/** The author chooses the member names of these objects of OpenAPI and Swagger, so a name there is not a member of a specification. */
const NAMES_BY_AUTHOR = wordSet(
  'properties patternProperties dependentSchemas $defs definitions schemas parameters headers responses requestBodies',
  'securitySchemes securityDefinitions pathItems content encoding mapping',
);

/** Rules whose problems are mistakes wherever they are. */
const STRICT_RULES = new Set(['gateway/extensions-have-a-meaning', 'gateway/texts-are-no-references']);

export function verdictOn(problem: NormalizedProblem, document: Document): Verdict {
  const { ruleId } = problem;
  if (STRICT_RULES.has(ruleId)) return 'mistake';
  const path = pathIn(problem);
  if (memberAt(path, (name) => name.startsWith('x-'))) return 'accepted';
  const decidesNothing = memberAt(path, (name) => UNENFORCED_KEYWORDS.has(name));
  if (problem.severity === 'warn') return decidesNothing ? 'accepted' : 'warning';
  if (ruleId === 'no-unresolved-refs' && path.at(-2) === 'mapping') return onMapping(document, path);
  if (ruleId === 'path-parameters-defined' && isInTemplate(problem.message)) return 'accepted';
  if (ruleId === 'path-parameters-defined' && path[0] === 'paths' && !isRequestable(path[1] ?? '')) return 'accepted';
  if (decidesNothing) return 'warning';
  return ruleId === 'struct' ? onStructure(problem, document, path) : 'mistake';
}

/** Returns whether a member of OpenAPI or JSON Schema on the way to a place meets a condition. */
function memberAt(path: readonly string[], meets: (name: string) => boolean): boolean {
  let isName = false;
  for (const [index, token] of path.entries()) {
    if (!isName && meets(token)) return true;
    // Under `paths`, templates begin with a slash, all other names are members.
    isName = !isName && (NAMES_BY_AUTHOR.has(token) || (token === 'examples' && index > 0));
  }
  return false;
}

/** The linter finds only parameters with names of letters, digits, `_`, `.` and `-`, and others exist, such as `{*}` and `{id:int}`. */
function isInTemplate(message: string): boolean {
  const [, name, template = ''] = /^Path parameter `(.*)` is not used in the path `(.*)`\.?$/.exec(message) ?? [];
  return template.includes(`{${name}}`);
}

/** A mapping may give the name of a schema instead of a reference (OpenAPI 3.1.1, section 4.8.25). */
function onMapping({ parsed }: Document, path: readonly string[]): Verdict {
  const value = valueAt(parsed, path);
  const root = isRecord(parsed) ? parsed : {};
  return Object.hasOwn(objectAt(root.components, 'schemas'), String(value)) ? 'accepted' : 'warning';
}

function onStructure({ message, suggest }: NormalizedProblem, document: Document, path: readonly string[]): Verdict {
  const isV30 = versionOf(document).startsWith('3.0') || versionOf(document).startsWith('2.');
  if (!isV30 && message === 'Expected type `Schema` (object) but got `boolean`') return 'accepted';
  // Swagger 2.0: the answer is a file.
  if (
    path.slice(-2).join('.') === 'schema.type' &&
    path.includes('responses') &&
    valueAt(document.parsed, path) === 'file'
  )
    return versionOf(document) === '2.0' ? 'accepted' : 'mistake';
  const unexpected = unexpectedIn(message);
  if (unexpected !== undefined) {
    // No request has a path without a slash, so its operations would not be served.
    if ((isPathWithoutSlash(path) || isPathBesidePaths(path)) && isRecord(valueAt(document.parsed, path)))
      return 'mistake';
    if (isMisspelling(unexpected, suggest)) return 'mistake';
    return !isV30 && path.slice(0, -1).some((token) => /^(schemas?|\$defs)$/.test(token)) ? 'accepted' : 'warning';
  }
  if (message.startsWith('Must contain at least one') && /^(parameters|headers)$/.test(path.at(-2) ?? ''))
    return 'warning';
  const missing = /^The field `([^`]*)` must be present/.exec(message)?.[1];
  return missing !== undefined && DISPENSABLE_MEMBERS.has(missing) ? 'warning' : 'mistake';
}

/** Whether a place that the linter does not expect is a path beside `paths`, whose indentation is lost. */
export function isPathBesidePaths(path: readonly string[]): boolean {
  return path.length === 1 && path[0]?.startsWith('/') === true;
}

/** Whether a place that the linter does not expect is a path that lacks its slash. */
export function isPathWithoutSlash(path: readonly string[]): boolean {
  return path.length === 2 && path[0] === 'paths' && !path[1]?.startsWith('/');
}

function isMisspelling(name: string, known: readonly string[]): boolean {
  const candidates = known.filter((candidate) => ENFORCED_KEYWORDS.has(candidate));
  return name.length > 3 && closest(name, candidates) !== undefined && !ENFORCED_KEYWORDS.has(name);
}

function versionOf({ parsed }: Document): string {
  return isRecord(parsed) ? String(parsed.openapi ?? parsed.swagger) : '';
}
