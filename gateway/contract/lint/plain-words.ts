// Says in plain words what the messages of the linter mean, for the mistakes that authors make most often, and what to write instead.

import type { NormalizedProblem } from '@redocly/openapi-core';
import { wordSet } from '../../shared/text.ts';
import { isRecord, valueAt } from '../pointer.ts';
import { DANGLING, danglingExplanation } from './dangling-references.ts';
import { isAboutNothing, missingIn, unexpectedIn } from './lint-causes.ts';
import { placeExplanation, schemeExplanation, typeExplanation } from './type-words.ts';
import { formExplanation, type LintExplanation } from './wrong-values.ts';

/** Returns an explanation for messages of the linter that do not name the cause. @param content returns the content of the file */
export function explanationOf(
  { ruleId }: NormalizedProblem,
  message: string,
  path: readonly string[],
  content: () => unknown,
): LintExplanation | undefined {
  if (message.startsWith(DANGLING)) return danglingExplanation(message, content(), path);
  if (ruleId === 'gateway/patterns-can-run') return patternExplanation(message, String(path.at(-1)), content(), path);
  const [, undeclared] = /^The operation does not define the path parameter `\{([^`]*)\}`/.exec(message) ?? [];
  if (undeclared !== undefined) {
    const declaration = `{ name: ${undeclared}, in: path, required: true, schema: { type: string } }`;
    return { reason: `${message}.`, remedy: `Add ${declaration} to its parameters, or correct the name there.` };
  }
  if (ruleId !== 'struct') return undefined;
  const value = () => valueAt(content(), path);
  const name = String(path.at(-1));
  if (isAboutNothing(message)) {
    const reason = `"${name}" has no content.`;
    return { reason, remedy: 'Indent what belongs to it deeper than itself, or remove it.' };
  }
  const unexpected = unexpectedIn(message);
  if (unexpected !== undefined) return unexpectedMember(unexpected, path, content());
  const missing = missingIn(message);
  if (missing !== undefined) return missingMember(missing[0] as string, value());
  if ((name === 'type' || path.at(-2) === 'type') && message.startsWith('`type` can be one of'))
    return path.includes('securitySchemes') ? schemeExplanation(value()) : typeExplanation(value(), message);
  if (name === 'in' && message.startsWith('`in` can be one of'))
    return placeExplanation(value(), isInTemplate(path, content()));
  const [, least] = /must be greater than or equal to (\d+)$/.exec(message) ?? [];
  if (least !== undefined) return { reason: `${message}.`, remedy: `Write ${least} or more.` };
  return formExplanation(message, { name, path, value: value(), root: content() });
}

/** Whether the name of the parameter at this place is in the template of its path. */
function isInTemplate(path: readonly string[], root: unknown): boolean {
  const parameter = valueAt(root, path.slice(0, -1));
  return isRecord(parameter) && path[0] === 'paths' && String(path[1]).includes(`{${parameter.name}}`);
}

const BEGIN_WITH_31 = 'Begin the document with "openapi: 3.1.1".';

/** Keywords of schemas that only OpenAPI 3.1 has. */
const KEYWORDS_OF_31 = wordSet(
  'const contains minContains maxContains if then else prefixItems patternProperties propertyNames dependentRequired',
  'dependentSchemas $defs',
);

const BELOW_CONTENT = 'Write it below content and a media type: content: { application/json: { schema: … } }.';

/** Members of Swagger 2.0, and what OpenAPI has for them from 3.0 on. */
const INSTEAD: Readonly<Record<string, string>> = {
  schema: BELOW_CONTENT,
  definitions: 'Write it as components: { schemas: … }.',
  securityDefinitions: 'Write it as components: { securitySchemes: … }.',
  host: 'Write it into servers: [{ url: https://host/path }].',
  basePath: 'Write it into servers: [{ url: https://host/path }].',
  schemes: 'Write it into servers: [{ url: https://host/path }].',
  consumes: 'Write the media types into content of the request bodies.',
  produces: 'Write the media types into content of the responses.',
  collectionFormat: 'Write style and explode.',
};

function unexpectedMember(name: string, path: readonly string[], root: unknown): LintExplanation | undefined {
  const isKeyword = KEYWORDS_OF_31.has(name) && path.some((one) => /^schemas?$/.test(one));
  if (isKeyword || (name === 'webhooks' && path.length === 1))
    return { reason: `OpenAPI 3.0 has no ${name}.`, remedy: BEGIN_WITH_31 };
  const isNew =
    isRecord(root) &&
    !('swagger' in root) &&
    (name !== 'schema' || /^\d|^default$|^requestBody$/.test(String(path.at(-2))));
  const remedy = isNew && Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined;
  return remedy === undefined ? undefined : { reason: `${name} is not expected here from OpenAPI 3.0 on.`, remedy };
}

/** What to add for a missing member. */
const TO_ADD: Readonly<Record<string, string>> = {
  in: 'Add in: query, or header, path or cookie.',
  name: 'Add name: …, as it is in requests.',
  description: 'Add description: … for readers.',
  url: 'Add url: https://….',
  content: 'Add content: { application/json: { schema: … } }.',
  scheme: 'Add scheme: bearer, or another scheme of HTTP.',
  type: 'Add type: http, apiKey, oauth2, openIdConnect or mutualTLS.',
  schema: 'Add schema: { type: string }, or another type.',
  propertyName: 'Add propertyName: …, the member that tells the schemas apart.',
};

function missingMember(name: string, holder: unknown): LintExplanation {
  const isBesideContent = name === 'content' && isRecord(holder) && 'schema' in holder;
  if (isBesideContent) return { reason: 'schema is not expected here from OpenAPI 3.0 on.', remedy: BELOW_CONTENT };
  const effect = name === 'schema' ? ', so every value passes' : '';
  return { reason: `${name} is missing${effect}.`, remedy: TO_ADD[name] ?? `Add ${name}: … here.` };
}

/** Says what a regular expression has that ECMA-262, the language of patterns, lacks. */
function patternExplanation(
  message: string,
  name: string,
  root: unknown,
  path: readonly string[],
): LintExplanation | undefined {
  if (message.includes('exponential')) return { reason: `${message}.`, remedy: 'Take repetitions out of repetitions.' };
  const source = name === 'pattern' ? String(valueAt(root, path)) : name;
  const [flags] = /\(\?[a-z]+\)/.exec(source) ?? [];
  if (flags !== undefined)
    return {
      reason: `patterns of OpenAPI have no ${flags}.`,
      remedy: 'Write both letters where case does not matter, as in [Aa].',
    };
  if (source.includes('(?P<'))
    return { reason: 'patterns of OpenAPI have no (?P<name>…).', remedy: 'Write (?<name>…), without the P.' };
  return undefined;
}
