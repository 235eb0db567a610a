// What a contract says about the form of one media type, prepared once for checking requests.

import type { JsonLimits } from '../json.ts';
import type { ValueShape } from '../parameters/value-shape.ts';
import { child, isObject, type JsonObject, type Located, member, memberNames } from '../pointer.ts';
import type { RequestSchemas, SchemaCheck } from '../schemas/schemas.ts';
import { encodingsOf } from './form-encoding.ts';
import { createFindPlace, type FindPlace } from './form-place.ts';
import { createPartHeadersChecks, type PartHeadersCheck } from './part-headers.ts';

export interface FormLimits extends JsonLimits {
  readonly bodyBytesMax: number;
}

export interface FormContract {
  readonly root: JsonObject;
  readonly shape: ValueShape;
  readonly check: SchemaCheck;
  readonly placeOf: FindPlace;
  /** By property. */
  readonly headerChecks: ReadonlyMap<string, PartHeadersCheck>;
}

/** `mediaType` is the Media Type Object of the contract. */
export function toFormContract(
  root: JsonObject,
  mediaType: Located,
  check: SchemaCheck,
  shapeOf: (schemas: readonly Located[]) => ValueShape,
  objectCheck: RequestSchemas['objectCheck'],
): FormContract {
  const schema = child(mediaType, 'schema');
  const shape = shapeOf(isObject(schema.value) ? [schema] : []);
  const encodings = encodingsOf(root, mediaType);
  return {
    root,
    shape,
    // A form is an object. Some published documents describe it as a list of files, or as the bytes of one.
    check: shape.types.size === 0 || shape.types.has('object') ? check : () => [],
    placeOf: createFindPlace(shape, encodings, memberNames(member(root, mediaType, 'encoding'))),
    headerChecks: createPartHeadersChecks(root, mediaType, objectCheck),
  };
}
