// Finds schemas that contradict themselves, because no value is valid, or because a listed value is never valid. `check` warns of them,
// because the gateway would refuse every request.

import { closest, type Mistake } from '../../shared/mistakes.ts';
import { follow, isObject, type JsonObject, pathOf } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { toPattern } from '../scalars/patterns.ts';
import { eachSchema } from '../schemas/dialect.ts';

/** A contradiction: the keyword at which it is shown, and an item of its list. */
interface Contradiction {
  readonly at: readonly (string | number)[];
  readonly reason: string;
  readonly remedy: string;
}

/** Returns one finding per contradiction. */
export function impossibleSchemas(document: ContractDocument): Mistake[] {
  const positions = document.position();
  const found: Mistake[] = [];
  eachSchema(document.root, undefined, (schema, pointer) => {
    for (const { at, reason, remedy } of [...contradictionsOf(schema), ...closedParts(document.root, schema)])
      found.push(positions.mistakeAt([...pathOf(pointer), ...at], reason, remedy));
    return undefined;
  });
  return found;
}

/** Returns the contradictions of a schema itself, without those of the schemas in it. */
export function contradictionsOf(schema: JsonObject): Contradiction[] {
  return [...crossedBounds(schema), ...forbiddenMembers(schema), ...unfitEnum(schema)];
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

function forbiddenMembers({ properties, patternProperties, additionalProperties, required }: JsonObject) {
  if (additionalProperties !== false || !Array.isArray(required)) return [];
  const names = Object.keys(isObject(properties) ? properties : {});
  const patterns = Object.keys(isObject(patternProperties) ? patternProperties : {});
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
    if (!isObject(part) || part.additionalProperties !== false || isObject(part.patternProperties)) return [];
    const own = propertyNames(part);
    const others = parts.flatMap(({ part: other }) => (other === part ? [] : propertyNames(other)));
    const forbidden = [...new Set(others)].filter((name) => !own.includes(name));
    if (forbidden.length === 0) return [];
    const reason = `additionalProperties: false here forbids what other parts of allOf declare: ${forbidden.join(', ')}.`;
    return [{ at, reason, remedy: 'Leave it out, or write unevaluatedProperties: false beside allOf (OpenAPI 3.1).' }];
  });
}

function propertyNames(schema: unknown): string[] {
  return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
}

function matches(pattern: string, name: string): boolean {
  try {
    return toPattern(pattern).test(name);
  } catch {
    // A rule of the linter reports the pattern.
    return true;
  }
}

function unfitEnum({ type, enum: values }: JsonObject): Contradiction[] {
  const types: unknown[] = [type ?? []].flat();
  if (types.length === 0 || !Array.isArray(values)) return [];
  return values.flatMap((value: unknown, index) => {
    if (types.some((one) => hasType(value, one))) return [];
    const reason = `the value ${JSON.stringify(value)} is never valid, because type is ${types.join(' or ')}.`;
    const remedy = types.includes('string') && !isObject(value) ? `Write it in quotes: "${value}".` : 'Correct it.';
    return [{ at: ['enum', index], reason, remedy }];
  });
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
