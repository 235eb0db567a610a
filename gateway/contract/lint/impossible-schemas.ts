// Finds schemas that contradict themselves, because no value is valid, or because a listed value is never valid. `check` warns of them,
// because the gateway would refuse every request.

import { closest, type Mistake } from '../../shared/mistakes.ts';
import { isObject, type JsonObject, pathOf } from '../pointer.ts';
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
    for (const { at, reason, remedy } of contradictionsOf(schema))
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
    const reason = `${low} ${least} is not below ${high} ${most}, so no value is valid.`;
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
