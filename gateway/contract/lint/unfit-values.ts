// Finds defaults and examples that do not fit their schema, by the checks of requests and answers. `check` warns of them, because clients
// copy what the documentation shows.

import type { Mistake } from '../../shared/mistakes.ts';
import { writtenExamples } from '../examples/declared.ts';
import { essenceOf, isJson } from '../media-types.ts';
import { isRecord, type JsonObject, type LocatedValue, pathOf } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { eachSchema } from '../schemas/dialect.ts';
import type { SchemaCheck, Schemas } from '../schemas/schemas.ts';
import { toBodyViolations } from '../violations/violations.ts';

/** A value that a document shows. */
interface ShownValue {
  readonly kind: 'default' | 'example';
  readonly value: unknown;
  /** Its place below the object that contains it. */
  readonly place: readonly (string | number)[];
}

/** The most values that are checked. Compiling a check takes a millisecond, so in large documents these values stand for all. */
const VALUES_MAX = 2000;
/** The most violations of a value that the remedy names. */
const TOLD_MAX = 3;

/** Returns one finding per value. */
export function unfitValues(document: ContractDocument, schemas: Schemas): Mistake[] {
  const positions = document.position();
  const found: Mistake[] = [];
  let left = VALUES_MAX;
  eachSchema(document.root, undefined, (value, pointer) => {
    const located = { value, pointer };
    const ofSchema = isRecord(value.schema);
    const shown = ofSchema ? examplesBeside(document.root, located) : shownIn(value);
    if (shown.length === 0 || left <= 0) return undefined;
    left -= shown.length;
    const check = checkAt(document, ofSchema ? `${pointer}/schema` : pointer, schemas);
    for (const one of check === undefined ? [] : shown) {
      const violations = violationsOf(one.value, check as SchemaCheck, document.root);
      if (violations.length === 0) continue;
      const reason = `the ${one.kind} does not fit its schema.`;
      const remedy = `${violations.slice(0, TOLD_MAX).join(' ')} Correct the ${one.kind} or the schema.`;
      found.push(positions.mistakeAt([...pathOf(pointer), ...one.place], reason, remedy));
    }
    return undefined;
  });
  return found;
}

/** Returns the examples of a parameter, a header, or a JSON media type. Other media types have texts that only they can read. */
function examplesBeside(root: JsonObject, located: LocatedValue): ShownValue[] {
  const path = pathOf(located.pointer);
  const isMediaType = path.at(-2) === 'content';
  if (isMediaType && !isJson(essenceOf(path.at(-1) as string))) return [];
  return writtenExamples(root, located).map(({ value, place }) => ({ kind: 'example', value, place }));
}

/** Returns the values that a schema shows. Generators write the default null where they mean that there is none. */
function shownIn({ default: preset, example, examples }: JsonObject): ShownValue[] {
  const several = Array.isArray(examples) ? examples : [];
  return [
    ...(preset === undefined || preset === null
      ? []
      : [{ kind: 'default', value: preset, place: ['default'] } as const]),
    ...(example === undefined ? [] : [{ kind: 'example', value: example, place: ['example'] } as const]),
    ...several.map((value, index) => ({ kind: 'example', value, place: ['examples', index] }) as const),
  ];
}

/** Returns the check of a schema; undefined if it does not compile, which is reported where it is compiled for requests. */
function checkAt(document: ContractDocument, pointer: string, schemas: Schemas): SchemaCheck | undefined {
  try {
    return schemas.schemaAt(document, pointer, /\/requestBod(y|ies)\//.test(pointer) ? 'request' : 'answer');
  } catch {
    return undefined;
  }
}

/** Returns what is wrong with a value, as sentences. */
function violationsOf(value: unknown, check: SchemaCheck, root: JsonObject): string[] {
  try {
    const errors = check(value, 0);
    if (errors.length === 0 || isTextOfJson(value, check)) return [];
    return toBodyViolations(errors, root).map(({ param, message }) =>
      param === '' ? message : `${param}: ${message}`,
    );
  } catch (error) {
    return [`${(error as Error).message}.`];
  }
}

/** Whether the value is the text of a valid value, as some authors write examples of JSON. */
function isTextOfJson(value: unknown, check: SchemaCheck): boolean {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return false;
  try {
    return check(JSON.parse(value), 0).length === 0;
  } catch {
    return false;
  }
}
