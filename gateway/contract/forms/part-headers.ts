// The headers that a contract declares for the parts of a form (OpenAPI 3.1.1, section 4.8.15.1: `encoding.headers`).

import { type Parameter, toParameter, toValue, withoutReference } from '../parameters/parameter.ts';
import { parameterSchema } from '../parameters/value-types.ts';
import { child, isObject, type JsonObject, type Located, member, memberNames } from '../pointer.ts';
import type { SchemaCheck } from '../schemas/schemas.ts';
import type { PartFault } from './part-check.ts';
import type { PartHead } from './part-head.ts';

/** Returns what is wrong with the headers of a part. */
export type PartHeadersCheck = (head: PartHead) => readonly PartFault[];

/** The declared headers of one property, without Content-Type, which `contentType` describes. */
function declaredHeaders(root: JsonObject, encoding: Located): Located[] {
  const headers = member(root, encoding, 'headers');
  return memberNames(headers)
    .filter((name) => name.toLowerCase() !== 'content-type')
    .map((name) => {
      const { value, pointer } = member(root, headers, name);
      return { value: { ...(isObject(value) ? value : {}), name: name.toLowerCase(), in: 'header' }, pointer };
    });
}

/** Creates the checks of a media type, by property. `compile` makes the check of an object with these headers as members. */
export function createPartHeadersChecks(
  root: JsonObject,
  mediaType: Located,
  compile: (members: ReadonlyMap<string, Located | undefined>, required: readonly string[]) => SchemaCheck,
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
