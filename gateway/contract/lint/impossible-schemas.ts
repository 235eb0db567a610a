// Finds schemas that contradict themselves, because no value is valid, or because a listed value is never valid. `check` warns of them,
// because the gateway would refuse every request.

import { closest, type Mistake } from '../../shared/mistakes.ts';
import { follow, isRecord, type JsonObject, pathOf } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { toPattern } from '../scalars/patterns.ts';
import { eachSchema } from '../schemas/dialect.ts';
import { type Contradiction, isOfType, mergedParts, unmetKeywords } from './unmet-keywords.ts';

/**
 * Returns one finding per contradiction.
 *
 * @param needed the operations by the schemas that all their requests must fit
 */
export function impossibleSchemas(
  document: ContractDocument,
  needed: ReadonlyMap<unknown, readonly string[]> = new Map(),
): Mistake[] {
  const positions = document.position();
  const found: Mistake[] = [];
  eachSchema(document.root, undefined, (schema, pointer) => {
    const place = pathOf(pointer);
    const by = needed.get(schema)?.join(', ');
    for (const { at, reason, remedy } of [
      ...contradictionsOf(document.root, schema),
      ...closedParts(document.root, schema),
    ]) {
      const refusesAll = by !== undefined && NONE_VALID.test(reason);
      const told = refusesAll ? reason.replace(/\.$/, `: every request of ${by} is refused.`) : reason;
      const mistake = positions.mistakeAt([...place, ...at], told, remedy);
      found.push(refusesAll ? Object.assign(mistake, { refusesAll }) : mistake);
    }
    return undefined;
  });
  return found;
}

/** The end of the reasons for which no value at all is valid; the other reasons are about some values. */
const NONE_VALID = /so no (value|object) is valid\.$/;

/** Returns the contradictions of a schema itself, without those of the schemas in it. */
export function contradictionsOf(root: JsonObject, schema: JsonObject): Contradiction[] {
  const parts = mergedParts(root, schema);
  const isNamed = parts.some((part) => ownContradictions(part).length > 0);
  return isNamed ? ownContradictions(schema) : unmetKeywords(root, schema);
}

function ownContradictions(schema: JsonObject): Contradiction[] {
  return [
    ...crossedBounds(schema),
    ...forbiddenMembers(schema),
    ...misspeltMembers(schema),
    ...unfitEnum(schema),
    ...emptyUnions(schema),
    ...(schema.multipleOf === 0 ? [NO_MULTIPLES] : []),
  ];
}

/** A lower and an upper bound, and whether a value may have both at once. */
const BOUNDS = [
  ['minimum', 'maximum', true],
  ['minimum', 'exclusiveMaximum', false],
  ['exclusiveMinimum', 'maximum', false],
  ['exclusiveMinimum', 'exclusiveMaximum', false],
  ['minLength', 'maxLength', true],
  ['minItems', 'maxItems', true],
  ['minProperties', 'maxProperties', true],
] as const;

function crossedBounds(schema: JsonObject): Contradiction[] {
  return BOUNDS.flatMap(([low, high, mayBeEqual]) => {
    const [least, most] = [schema[low], schema[high]];
    if (typeof least !== 'number' || typeof most !== 'number' || least < most) return [];
    if (mayBeEqual && least === most) return [];
    const crossing = least > most ? 'is above' : 'is not below';
    const reason = `${low} ${least} ${crossing} ${high} ${most}, so no value is valid.`;
    return [{ at: [low], reason, remedy: `Correct ${low} or ${high}.` }];
  });
}

const NO_MULTIPLES: Contradiction = {
  at: ['multipleOf'],
  reason: 'no number is a multiple of 0, so no value is valid.',
  remedy: 'Write a number above 0, or remove it.',
};

/** Returns the unions that no value fits: those without a schema, and `oneOf` with two equal schemas. */
function emptyUnions(schema: JsonObject): Contradiction[] {
  return ['oneOf', 'anyOf'].flatMap((name): Contradiction[] => {
    const parts = schema[name];
    if (!Array.isArray(parts)) return [];
    if (parts.length === 0)
      return [
        {
          at: [name],
          reason: `${name} has no schema, so no value is valid.`,
          remedy: 'List the schemas, or remove it.',
        },
      ];
    if (name === 'anyOf') return [];
    const texts = parts.map((part) => JSON.stringify(part));
    const index = texts.findIndex((text, at) => texts.indexOf(text) < at);
    const reason = 'two schemas of oneOf are the same, and a value that fits both is not valid.';
    return index === -1 ? [] : [{ at: [name, index], reason, remedy: 'Remove one of them, or write anyOf.' }];
  });
}

/** Returns required members that are declared under a name with another spelling. */
function misspeltMembers(schema: JsonObject): Contradiction[] {
  const { properties, required, additionalProperties } = schema;
  const isWhole = !['allOf', 'anyOf', 'oneOf', '$ref', 'patternProperties'].some((name) => name in schema);
  if (!isWhole || additionalProperties === false || !Array.isArray(required) || !isRecord(properties)) return [];
  const names = Object.keys(properties);
  const left = names.filter((name) => !required.includes(name));
  return required.flatMap((name: unknown): Contradiction[] => {
    if (typeof name !== 'string' || names.includes(name)) return [];
    const near = closest(name, left, name.length > 5 ? 2 : 1);
    if (near === undefined) return [];
    const reason = `"${name}" is required, and no property has this name.`;
    return [{ at: ['required'], reason, remedy: `Did you mean "${near}"?` }];
  });
}

function forbiddenMembers({ properties, patternProperties, additionalProperties, required }: JsonObject) {
  if (additionalProperties !== false || !Array.isArray(required)) return [];
  const names = Object.keys(isRecord(properties) ? properties : {});
  const patterns = Object.keys(isRecord(patternProperties) ? patternProperties : {});
  const isForbidden = (name: unknown) =>
    typeof name === 'string' && !names.includes(name) && !patterns.some((pattern) => matches(pattern, name));
  return required.filter(isForbidden).map((name: string): Contradiction => {
    const near = closest(name, names);
    return {
      at: ['required'],
      reason: `"${name}" is required, and additionalProperties: false forbids it, so no object is valid.`,
      remedy: near === undefined ? 'Declare it under properties, or do not require it.' : `Did you mean "${near}"?`,
    };
  });
}

/** Returns the parts of an `allOf` that forbid members of the other parts. A part knows its own properties only. */
function closedParts(root: JsonObject, schema: JsonObject): Contradiction[] {
  if (!Array.isArray(schema.allOf)) return [];
  const below = schema.allOf.map((part: unknown) => follow(root, { value: part, pointer: '' }).value);
  const parts = [{ at: ['additionalProperties'], part: schema as unknown }].concat(
    below.map((part, index) => ({ at: ['allOf', String(index)], part })),
  );
  return parts.flatMap(({ at, part }): Contradiction[] => {
    if (!isRecord(part) || part.additionalProperties !== false || isRecord(part.patternProperties)) return [];
    const own = propertyNames(part);
    const others = parts.flatMap(({ part: other }) => (other === part ? [] : propertyNames(other)));
    const forbidden = [...new Set(others)].filter((name) => !own.includes(name));
    if (forbidden.length === 0) return [];
    const reason = `additionalProperties: false here forbids what other parts of allOf declare: ${forbidden.join(', ')}.`;
    return [{ at, reason, remedy: 'Leave it out, or write unevaluatedProperties: false beside allOf (OpenAPI 3.1).' }];
  });
}

function propertyNames(schema: unknown): string[] {
  return isRecord(schema) && isRecord(schema.properties) ? Object.keys(schema.properties) : [];
}

function matches(pattern: string, name: string): boolean {
  try {
    return toPattern(pattern).test(name);
  } catch {
    // A rule of the linter reports the pattern.
    return true;
  }
}

function unfitEnum({ type, enum: values, const: only }: JsonObject): Contradiction[] {
  const types: unknown[] = [type ?? []].flat();
  if (types.length === 0) return [];
  const listed = Array.isArray(values) ? values.map((value, index) => ({ value, at: ['enum', index] })) : [];
  const all: { value: unknown; at: (string | number)[] }[] =
    only === undefined ? listed : [...listed, { value: only, at: ['const'] }];
  return all.flatMap(({ value, at }) => {
    if (types.some((one) => isOfType(value, String(one)))) return [];
    const reason = `the value ${JSON.stringify(value)} is never valid, because type is ${types.join(' or ')}.`;
    return [{ at, reason, remedy: remedyForValue(value, types) }];
  });
}

function remedyForValue(value: unknown, types: readonly unknown[]): string {
  if (value === null)
    return 'Remove it, or write "null" into the type, as in [string, "null"] (OpenAPI 3.0: nullable: true).';
  if (types.includes('string') && !isRecord(value)) return `Write it in quotes: "${value}".`;
  const isNumber = types.some((type) => type === 'integer' || type === 'number') && String(Number(value)) === value;
  return isNumber ? `Write it without quotes: ${value}.` : 'Correct it.';
}
