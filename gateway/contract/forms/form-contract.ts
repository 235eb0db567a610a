// Prepares the contract of a form of one media type for checks of requests, including the headers that it declares for parts (OpenAPI
// 3.1.1, section 4.8.15.1: `encoding.headers`).

import type { JsonLimits } from '../json.ts';
import { type Parameter, toParameter, toValue, withoutReference } from '../parameters/parameter.ts';
import type { ValueShape } from '../parameters/value-shape.ts';
import { parameterSchema } from '../parameters/value-types.ts';
import { child, isRecord, type JsonObject, type LocatedValue, member, memberNames } from '../pointer.ts';
import type { RequestSchemas, SchemaCheck } from '../schemas/schemas.ts';
import type { ViolationMessage } from '../violations/violation-messages.ts';
import { encodingsOf } from './form-encoding.ts';
import { createFindPlace, type FindPlace } from './form-place.ts';
import type { PartHead } from './part-head.ts';

export interface FormLimits extends JsonLimits {
  readonly bodyBytesMax: number;
}

export interface FormContract {
  readonly root: JsonObject;
  readonly shape: ValueShape;
  readonly check: SchemaCheck;
  readonly placeOf: FindPlace;
  /** The checks of part headers, by property. */
  readonly headerChecks: ReadonlyMap<string, PartHeadersCheck>;
}

/** Prepares the contract. @param mediaType the Media Type Object of the contract */
export function toFormContract(
  root: JsonObject,
  mediaType: LocatedValue,
  check: SchemaCheck,
  shapeOf: (schemas: readonly LocatedValue[]) => ValueShape,
  objectCheck: RequestSchemas['objectCheck'],
): FormContract {
  const schema = child(mediaType, 'schema');
  const shape = shapeOf(isRecord(schema.value) ? [schema] : []);
  const encodings = encodingsOf(root, mediaType);
  return {
    root,
    shape,
    // A form is an object. Some published documents describe it as a list of files, or as the bytes of a file.
    check: shape.types.size === 0 || shape.types.has('object') ? check : () => [],
    placeOf: createFindPlace(shape, encodings, memberNames(member(root, mediaType, 'encoding'))),
    headerChecks: createPartHeadersChecks(root, mediaType, objectCheck),
  };
}

/** Returns the faults in the headers of a part. */
type PartHeadersCheck = (head: PartHead) => readonly ViolationMessage[];

/** Returns the declared headers of one property, without Content-Type, which `contentType` describes. */
function declaredHeaders(root: JsonObject, encoding: LocatedValue): LocatedValue[] {
  const headers = member(root, encoding, 'headers');
  return memberNames(headers)
    .filter((name) => name.toLowerCase() !== 'content-type')
    .map((name) => {
      const { value, pointer } = member(root, headers, name);
      return { value: { ...(isRecord(value) ? value : {}), name: name.toLowerCase(), in: 'header' }, pointer };
    });
}

/** Creates the checks of a media type, by property. `compile` makes the check of an object with these headers as members. */
function createPartHeadersChecks(
  root: JsonObject,
  mediaType: LocatedValue,
  compile: (members: ReadonlyMap<string, LocatedValue | undefined>, required: readonly string[]) => SchemaCheck,
): ReadonlyMap<string, PartHeadersCheck> {
  const encodings = member(root, mediaType, 'encoding');
  const checks = new Map<string, PartHeadersCheck>();
  for (const property of memberNames(encodings)) {
    const headers = declaredHeaders(root, child(encodings, property));
    if (headers.length === 0) continue;
    const parameters = headers.map((header) => toParameter(root, header));
    const required = headers.flatMap(({ value }) => {
      const { name, required: isRequired } = value as JsonObject;
      return isRequired === true ? String(name) : [];
    });
    const members = new Map(
      headers.map((header) => [String((header.value as JsonObject).name), parameterSchema(root, header)]),
    );
    checks.set(property, createCheck(parameters, compile(members, required)));
  }
  return checks;
}

function createCheck(parameters: readonly Parameter[], check: SchemaCheck): PartHeadersCheck {
  return function partHeaderFaults({ headers }) {
    const values = withoutReference();
    for (const parameter of parameters) {
      const text = headers.get(parameter.name);
      if (text !== undefined) values[parameter.name] = toValue(parameter, text);
    }
    return check(values, parameters.length).map(({ instancePath, params, message = 'is not valid' }) => {
      const name = String(params.missingProperty ?? instancePath.split('/')[1]);
      if (params.missingProperty !== undefined) return { code: 'required', message: `Needs the header ${name}.` };
      return { code: 'invalid', message: `Has a header ${name} that is not as declared: ${message}.` };
    });
  };
}
