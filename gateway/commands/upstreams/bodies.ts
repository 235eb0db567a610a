// Makes valid bodies for an operation, in JSON if its contract accepts JSON, otherwise the smallest body of another accepted media type.

import { concreteType, printBody } from '../../contract/examples/bodies.ts';
import { encodingsOf } from '../../contract/forms/form-encoding.ts';
import { createFormChecks } from '../../contract/forms/forms.ts';
import { essenceOf, isJson, MULTIPART, mediaTypeOf, URLENCODED } from '../../contract/media-types.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { createValueShapes, type ValueShape } from '../../contract/parameters/value-shape.ts';
import { child, isRecord, type JsonObject, type LocatedValue, member, memberNames } from '../../contract/pointer.ts';
import { samplesOf } from '../../contract/samples/sample.ts';
import type { Schemas } from '../../contract/schemas/schemas.ts';

export interface TrialBody {
  readonly contentType: string;
  /** The body as a JSON value; undefined if it has another media type. */
  readonly body?: unknown;
  /** The bytes of the body, if they are not the JSON of `body`. */
  readonly bytes?: Buffer | undefined;
}

const BOUNDARY = 'gateway-try';
const FILE_TYPE = 'application/octet-stream';
/** The limits of a sample body. Samples are far below them. */
const LIMITS = { bodyBytesMax: 1_048_576, jsonDepthMax: 32, jsonMembersMax: 10_000 };

/**
 * Builds bodies for an operation. If none can be built, returns undefined if a body is required, otherwise an empty list.
 *
 * @param withReferences puts ids of existing records into a JSON value
 */
export function bodiesFor(
  entry: ContractOperation,
  schemas: Schemas,
  withReferences: (value: unknown) => unknown,
): readonly TrialBody[] | undefined {
  const { root } = entry.document;
  const requestBody = member(root, entry.located, 'requestBody');
  const content = member(root, requestBody, 'content');
  const types = memberNames(content).toSorted((one, other) => rankOf(one) - rankOf(other));
  for (const type of types) {
    const mediaType = member(root, content, type);
    const bodies = isJson(essenceOf(type))
      ? jsonBodies(entry, schemas, type, valuesFor(root, mediaType).map(withReferences))
      : otherBodies(entry, schemas, type, mediaType);
    if (bodies.length > 0) return bodies;
  }
  return isRecord(requestBody.value) && requestBody.value.required === true ? undefined : [];
}

/** Returns the examples of a parameter or a media type. */
export function examplesAt(root: JsonObject, owner: LocatedValue): unknown[] {
  const { example, examples } = (owner.value ?? {}) as JsonObject;
  const named = isRecord(examples) ? Object.keys(examples) : [];
  const written = named.map((key) => member(root, member(root, owner, 'examples'), key).value);
  return [example, ...written.map((found) => (isRecord(found) ? found.value : undefined))].filter(
    (value) => value !== undefined,
  );
}

function rankOf(type: string): number {
  const essence = essenceOf(type);
  if (isJson(essence)) return 0;
  const others = [URLENCODED, MULTIPART].indexOf(essence) + 1;
  return others > 0 ? others : 3;
}

function valuesFor(root: JsonObject, mediaType: LocatedValue): unknown[] {
  const schema = child(mediaType, 'schema');
  const samples = schema.value === undefined ? ['example'] : samplesOf(root, schema);
  return [...examplesAt(root, mediaType), ...samples].filter((value) => value !== undefined);
}

function jsonBodies(
  entry: ContractOperation,
  schemas: Schemas,
  type: string,
  values: readonly unknown[],
): readonly TrialBody[] {
  const check = schemas.request(entry).bodies.get(mediaTypeOf(type)) ?? (() => []);
  return values.filter((value) => check(value, 1).length === 0).map((body) => ({ contentType: type, body }));
}

function otherBodies(entry: ContractOperation, schemas: Schemas, type: string, mediaType: LocatedValue): TrialBody[] {
  const { root } = entry.document;
  const essence = essenceOf(type);
  const values = valuesFor(root, mediaType);
  if (essence !== URLENCODED && essence !== MULTIPART) {
    const contentType = /^(\*|application)\/\*$/.test(essence) ? FILE_TYPE : concreteType(type);
    const bytes = printBody(contentType, values[0] ?? 'example', child(mediaType, 'schema').value);
    return [{ contentType, bytes }];
  }
  const contentType = essence === MULTIPART ? `${MULTIPART}; boundary=${BOUNDARY}` : type;
  const print = essence === MULTIPART ? createMultipartPrinter(root, mediaType) : printUrlencoded;
  const form = createFormChecks(entry, schemas.request(entry))?.(essence, contentType);
  return values
    .filter(isRecord)
    .map((value) => ({ contentType, bytes: print(value) }))
    .filter(({ bytes }) => isValid(() => form?.violations(bytes, contentType, LIMITS) ?? []));
}

/** Whether a body is valid. A form that cannot be read is not valid. */
function isValid(violations: () => readonly unknown[]): boolean {
  try {
    return violations().length === 0;
  } catch {
    return false;
  }
}

function printUrlencoded(value: JsonObject): Buffer {
  return Buffer.from(new URLSearchParams(pairsOf(value, '')).toString());
}

/** Returns the fields of a form. Members are nested by brackets, as in `a[b]=c`. The items of a list repeat its name. */
function pairsOf(value: unknown, name: string): [string, string][] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => pairsOf(item, name));
  if (!isRecord(value)) return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, below]) => pairsOf(below, name === '' ? key : `${name}[${key}]`));
}

function createMultipartPrinter(root: JsonObject, mediaType: LocatedValue): (value: JsonObject) => Buffer {
  const shape = createValueShapes(root)([child(mediaType, 'schema')]);
  const encodings = encodingsOf(root, mediaType);

  function partsOf(name: string, value: unknown, of: ValueShape | undefined): Buffer[] {
    if (value === null || value === undefined) return [];
    if (Array.isArray(value)) return value.flatMap((item) => partsOf(name, item, of?.items()));
    const declared = encodings.get(name)?.contentTypes[0];
    if (of?.isBinary) {
      const type = concreteType(declared ?? of.contentMediaType ?? FILE_TYPE);
      return [partOf(`name="${name}"; filename="example"`, type, printBody(type, value, undefined))];
    }
    if (isRecord(value)) return [partOf(`name="${name}"`, 'application/json', JSON.stringify(value))];
    return [partOf(`name="${name}"`, declared && concreteType(declared), String(value))];
  }

  return function print(value) {
    const parts = Object.entries(value).flatMap(([name, one]) => partsOf(name, one, shape.property(name)));
    return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
  };
}

function partOf(disposition: string, type: string | undefined, content: string | Buffer): Buffer {
  const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${typed}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content as string), Buffer.from('\r\n')]);
}
