// Says in plain words which type, place or security scheme is meant by a word that OpenAPI does not have.

import { closest } from '../../shared/mistakes.ts';
import type { LintExplanation } from './wrong-values.ts';

/** Words of programming languages and of other specifications, and what OpenAPI has for them. */
const TYPES_ELSEWHERE: Readonly<Record<string, string>> = {
  int: 'type: integer',
  int32: 'type: integer, format: int32',
  int64: 'type: integer, format: int64',
  long: 'type: integer, format: int64',
  float: 'type: number, format: float',
  double: 'type: number, format: double',
  decimal: 'type: number',
  file: 'type: string, format: binary',
  binary: 'type: string, format: binary',
  date: 'type: string, format: date',
  datetime: 'type: string, format: date-time',
  'date-time': 'type: string, format: date-time',
  timestamp: 'type: string, format: date-time',
  time: 'type: string, format: time',
  uuid: 'type: string, format: uuid',
  email: 'type: string, format: email',
  uri: 'type: string, format: uri',
  url: 'type: string, format: uri',
  text: 'type: string',
  char: 'type: string, maxLength: 1',
  enum: 'type: string, and the values in enum',
  list: 'type: array',
  dict: 'type: object',
  map: 'type: object',
  any: 'no type',
};

/** Returns the mistake of an unknown type, and of a list of types, or the type null, in OpenAPI 3.0. */
export function typeExplanation(value: unknown, message: string): LintExplanation | undefined {
  const types = [value].flat();
  // In 3.1, the linter names null as a possible type.
  const admitsNull = message.includes('"null"');
  if (admitsNull && types.includes(null))
    return {
      reason: 'in YAML, null without quotes is no text.',
      remedy: 'Write it in quotes, as in type: [string, "null"].',
    };
  const others = types.filter((type) => type !== 'null' && type !== null);
  const [only] = others;
  const known = types.length === 1 ? TYPES_ELSEWHERE[String(only).toLowerCase()] : undefined;
  if (known !== undefined)
    return {
      reason: `OpenAPI has no type "${only}".`,
      remedy: known === 'no type' ? 'Leave type out.' : `Write ${known}.`,
    };
  const near = types.length === 1 ? typeFor(String(only)) : undefined;
  if (near !== undefined && !TYPES.includes(String(only)))
    return { reason: `OpenAPI has no type "${only}".`, remedy: `Write ${near}.` };
  if (admitsNull || (types.length < 2 && others.length > 0)) return undefined;
  const single = only === undefined ? 'nullable: true' : `type: ${only} and nullable: true`;
  const instead = others.length > 1 ? 'anyOf with one type each' : single;
  return {
    reason: 'a schema of OpenAPI 3.0 has one type, and null is none.',
    remedy: `Write ${instead}, or begin the document with "openapi: 3.1.1".`,
  };
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array'];

/** Returns the members of a schema that a word stands for; undefined for a word that is no type of any language. */
export function typeFor(word: string): string | undefined {
  const elsewhere = TYPES_ELSEWHERE[word.toLowerCase()];
  if (elsewhere !== undefined) return elsewhere === 'no type' ? '' : elsewhere;
  const near = TYPES.find((type) => type.startsWith(word.toLowerCase())) ?? closest(word, TYPES, 1);
  return near === undefined || word.length < 3 ? undefined : `type: ${near}`;
}

/** Words for a security scheme, and what OpenAPI has for them. */
const SCHEMES_ELSEWHERE: Readonly<Record<string, string>> = {
  bearer: 'type: http, scheme: bearer',
  jwt: 'type: http, scheme: bearer, bearerFormat: JWT',
  token: 'type: http, scheme: bearer',
  basic: 'type: http, scheme: basic',
  oauth: 'type: oauth2',
  header: 'type: apiKey, in: header, name: X-API-Key',
  cookie: 'type: apiKey, in: cookie, name: session',
};

/** Explains the unknown type of a security scheme. */
export function schemeExplanation(type: unknown): LintExplanation | undefined {
  const known = SCHEMES_ELSEWHERE[String(type).toLowerCase()];
  if (known === undefined) return undefined;
  return { reason: `OpenAPI has no type "${type}" of security schemes.`, remedy: `Write ${known}.` };
}

/** Words for the place of a parameter. */
const PLACES_ELSEWHERE: Readonly<Record<string, string>> = {
  url: 'query',
  uri: 'query',
  params: 'query',
  querystring: 'query',
  route: 'path',
  headers: 'header',
  cookies: 'cookie',
};

/**
 * Explains the unknown place of a parameter. Swagger 2.0 declares a body as a parameter. @param isInTemplate whether the path has its name
 */
export function placeExplanation(place: unknown, isInTemplate: boolean): LintExplanation | undefined {
  if (place !== 'body' && place !== 'formData') {
    const known = PLACES_ELSEWHERE[String(place).toLowerCase()];
    const meant = isInTemplate && known !== undefined ? 'path' : known;
    return meant === undefined
      ? undefined
      : { reason: `requests have no place "${place}".`, remedy: `Write in: ${meant}.` };
  }
  const type = place === 'body' ? 'application/json' : 'application/x-www-form-urlencoded';
  return {
    reason: `from OpenAPI 3.0 on, no parameter is in ${place}.`,
    remedy: `Write requestBody: { content: { ${type}: { schema: … } } } beside parameters.`,
  };
}
