// Says in plain words what the messages of the linter mean, for the mistakes that authors make most often, and what to write instead.

import type { NormalizedProblem } from '@redocly/openapi-core';
import { closest, type Mistake } from '../../shared/mistakes.ts';
import { isObject, pathOf, valueAt } from '../pointer.ts';
import { isAboutNothing, unexpectedIn } from './lint-causes.ts';

type Explanation = Pick<Mistake, 'reason' | 'remedy'>;

/** Returns an explanation for messages of the linter that do not name the cause. @param content returns the content of the file */
export function explanationOf(
  { ruleId }: NormalizedProblem,
  message: string,
  path: readonly string[],
  content: () => unknown,
): Explanation | undefined {
  if (message === DANGLING) return danglingAt(content(), path);
  if (ruleId === 'gateway/patterns-can-run') return patternExplanation(message, String(path.at(-1)), content(), path);
  if (ruleId !== 'struct') return undefined;
  if (isAboutNothing(message)) {
    const reason = `"${path.at(-1)}" has no content.`;
    return { reason, remedy: 'Indent what belongs to it deeper than itself, or remove it.' };
  }
  const unexpected = unexpectedIn(message) ?? '';
  if (KEYWORDS_OF_31.has(unexpected) && path.some((name) => /^schemas?$/.test(name)))
    return { reason: `OpenAPI 3.0 has no ${unexpected}.`, remedy: BEGIN_WITH_31 };
  return wrongValue(message, path, content);
}

const BEGIN_WITH_31 = 'Begin the document with "openapi: 3.1.1".';

/** Keywords of schemas that only OpenAPI 3.1 has. */
const KEYWORDS_OF_31 = new Set(
  'const contains minContains maxContains if then else prefixItems patternProperties propertyNames dependentRequired dependentSchemas $defs'.split(
    ' ',
  ),
);

/** Returns the mistake of a member whose value has another type than OpenAPI wants. */
function wrongValue(message: string, path: readonly string[], content: () => unknown): Explanation | undefined {
  const name = String(path.at(-1));
  const [, wanted, found] = /^Expected type `(\w+)`(?: \(\w+\))? but got `(\w+)`/.exec(message) ?? [];
  if (name === 'type' && message.startsWith('`type` can be one of')) return typeAt(content(), path, message);
  if (name === 'in' && message.startsWith('`in` can be one of')) return bodyParameter(valueAt(content(), path));
  if (wanted === 'ParameterList' && found === 'object')
    return {
      reason: 'parameters is a list.',
      remedy: 'Write each as an item, as in - { name: limit, in: query, schema: { type: integer } }.',
    };
  if (wanted === undefined) return undefined;
  const value = valueAt(content(), path);
  if (name === 'required' && typeof value === 'boolean') return requiredInProperty(path, value);
  if (/^exclusiveM(in|ax)imum$/.test(name)) return exclusiveBound(name, value, valueAt(content(), path.slice(0, -1)));
  if (wanted === 'array' && ['string', 'number'].includes(typeof value))
    return { reason: `${name} is a list.`, remedy: `Write ${name}: [${value}].` };
  if (typeof value === 'string' && isPlain(value, wanted))
    return { reason: `${name} is not a text.`, remedy: `Write it without quotes: ${name}: ${value.trim()}.` };
  return undefined;
}

/** Whether a text would be a value of the wanted type without its quotes. */
function isPlain(text: string, wanted: string): boolean {
  if (wanted === 'boolean') return /^(true|false)$/.test(text.trim());
  return /^(number|integer)$/.test(wanted) && text.trim() !== '' && Number.isFinite(Number(text));
}

/** Returns the mistake of a property that declares itself as required. Only its object can do so. */
function requiredInProperty(path: readonly string[], value: boolean): Explanation {
  const reason = `required: ${value} has no meaning in a schema.`;
  if (!value)
    return { reason, remedy: 'Remove it, because a property is optional unless its object names it in required.' };
  const name = path.at(-3) === 'properties' ? path.at(-2) : 'name';
  return { reason, remedy: `Write required: [${name}] beside the properties of the object.` };
}

/** Up to OpenAPI 3.0, an exclusive bound says that another bound is exclusive. From 3.1 on it is the bound itself. */
function exclusiveBound(name: string, value: unknown, schema: unknown): Explanation | undefined {
  const beside = name === 'exclusiveMinimum' ? 'minimum' : 'maximum';
  const bound = isObject(schema) ? schema[beside] : undefined;
  if (typeof value === 'number')
    return {
      reason: `in OpenAPI 3.0, ${name} is true or false.`,
      remedy: `Write ${beside}: ${value} and ${name}: true, or begin the document with "openapi: 3.1.1".`,
    };
  if (typeof value !== 'boolean') return undefined;
  const instead =
    typeof bound === 'number' ? `Write ${name}: ${bound} in place of ${beside}: ${bound}.` : 'Write the bound itself.';
  return {
    reason: `from OpenAPI 3.1 on, ${name} is the bound itself.`,
    remedy: value ? instead : 'Remove it.',
  };
}

/** Returns the mistake of a body that is declared as a parameter, as Swagger 2.0 does. */
function bodyParameter(place: unknown): Explanation | undefined {
  if (place !== 'body' && place !== 'formData') return undefined;
  const type = place === 'body' ? 'application/json' : 'application/x-www-form-urlencoded';
  return {
    reason: `from OpenAPI 3.0 on, no parameter is in ${place}.`,
    remedy: `Write requestBody: { content: { ${type}: { schema: … } } } beside parameters.`,
  };
}

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
function typeAt(root: unknown, path: readonly string[], message: string): Explanation | undefined {
  const types = [valueAt(root, path)].flat();
  const others = types.filter((type) => type !== 'null');
  const [only] = others;
  const known = types.length === 1 ? TYPES_ELSEWHERE[String(only).toLowerCase()] : undefined;
  if (known !== undefined)
    return {
      reason: `OpenAPI has no type "${only}".`,
      remedy: known === 'no type' ? 'Leave type out.' : `Write ${known}.`,
    };
  // In 3.1, the linter names null as a possible type.
  if (message.includes('"null"') || (types.length < 2 && others.length > 0)) return undefined;
  const single = only === undefined ? 'nullable: true' : `type: ${only} and nullable: true`;
  const instead = others.length > 1 ? 'anyOf with one type each' : single;
  return {
    reason: 'a schema of OpenAPI 3.0 has one type, and null is none.',
    remedy: `Write ${instead}, or begin the document with "openapi: 3.1.1".`,
  };
}

/** Says what a regular expression has that ECMA-262, the language of patterns, lacks. */
function patternExplanation(
  message: string,
  name: string,
  root: unknown,
  path: readonly string[],
): Explanation | undefined {
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

const DANGLING = "Can't resolve $ref";

/** Names the dangling reference at a place of a file, and the most similar reference that exists. */
function danglingAt(root: unknown, path: readonly string[]): Explanation | undefined {
  const holder = valueAt(root, path);
  const reference = isObject(holder) ? holder.$ref : undefined;
  if (typeof reference !== 'string') return undefined;
  const [, parent = '', name = ''] = /^#(.*)\/([^/]+)$/.exec(reference) ?? [];
  const beside = name === '' ? undefined : valueAt(root, pathOf(parent));
  const nearest = isObject(beside) ? closest(name, Object.keys(beside)) : undefined;
  const remedy = nearest === undefined ? EXISTING_ONLY : `Did you mean "#${parent}/${nearest}"?`;
  return { reason: `${DANGLING} ${JSON.stringify(reference)}.`, remedy };
}

export const EXISTING_ONLY =
  'Point the $ref at something that exists, in this file or in one below the contracts directory.';

/** Returns the place of a reference that leads, perhaps through other references, to itself; undefined if there is none. */
export function circularReference(root: unknown): string[] | undefined {
  const seen = new Set<unknown>();

  function search(value: unknown, path: readonly string[]): string[] | undefined {
    if (typeof value !== 'object' || value === null || seen.has(value)) return undefined;
    seen.add(value);
    if (leadsToItself(root, value)) return [...path];
    for (const [name, below] of Object.entries(value)) {
      const found = search(below, [...path, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  return search(root, []);
}

function leadsToItself(root: unknown, start: object): boolean {
  const passed = new Set<unknown>();
  let at: unknown = start;
  while (isObject(at) && typeof at.$ref === 'string' && at.$ref.startsWith('#/')) {
    if (passed.has(at)) return at === start;
    passed.add(at);
    at = valueAt(root, pathOf(at.$ref.slice(1)));
  }
  return false;
}
