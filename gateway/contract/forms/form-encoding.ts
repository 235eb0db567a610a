// Reads the Encoding Objects of a form's media type (OpenAPI 3.1.1, section 4.8.15), which say how each property is written.

import { essenceOf, isJson } from '../media-types.ts';
import type { ValueShape } from '../parameters/value-shape.ts';
import { isRecord, type JsonObject, type LocatedValue, member, memberNames } from '../pointer.ts';

export interface PropertyEncoding {
  /** Declared style; undefined for the default, under which JSON is possible too. */
  readonly style: string | undefined;
  /** The separator of the items of one value; undefined if each item is a separate pair. */
  readonly separator: string | undefined;
  /** Whether the members of an object are separate pairs: `R=100&G=200`. */
  readonly isSpread: boolean;
  /** The declared media types or ranges of the part; empty if none are declared. */
  readonly contentTypes: readonly string[];
  /** Whether the value is written as JSON. */
  readonly isJson: boolean;
}

const SEPARATORS: Readonly<Record<string, string>> = { form: ',', spaceDelimited: ' ', pipeDelimited: '|' };

const PLAIN_ENCODING: PropertyEncoding = {
  style: undefined,
  separator: undefined,
  isSpread: false,
  contentTypes: [],
  isJson: false,
};

/** Returns the encodings by property. Properties without an encoding are left out. */
export function encodingsOf(root: JsonObject, mediaType: LocatedValue): ReadonlyMap<string, PropertyEncoding> {
  const declared = member(root, mediaType, 'encoding');
  return new Map(memberNames(declared).map((name) => [name, toEncoding(member(root, declared, name).value)] as const));
}

function toEncoding(value: unknown): PropertyEncoding {
  if (!isRecord(value)) return PLAIN_ENCODING;
  const { style, explode, contentType } = value;
  const hasStyle = style !== undefined || explode !== undefined;
  const written = typeof style === 'string' ? style : 'form';
  const exploded = typeof explode === 'boolean' ? explode : written === 'form';
  const contentTypes = typeof contentType === 'string' && !hasStyle ? contentType.split(',').map(essenceOf) : [];
  return {
    style: hasStyle ? written : undefined,
    separator: exploded ? undefined : SEPARATORS[written],
    isSpread: style === 'form' && exploded,
    contentTypes,
    isJson: contentTypes.length > 0 && contentTypes.every(isJson),
  };
}

export function encodingFor(encodings: ReadonlyMap<string, PropertyEncoding>, name: string): PropertyEncoding {
  return encodings.get(name) ?? PLAIN_ENCODING;
}

/** Whether only an object is valid, so that a text can only be JSON. */
export function isObjectOnly({ types }: ValueShape): boolean {
  return types.has('object') && !types.has('string');
}

/** Whether a media type is in a list of types and ranges. */
export function isCovered(essence: string, ranges: readonly string[]): boolean {
  return ranges.some(
    (range) => range === essence || range === '*/*' || (range.endsWith('/*') && essence.startsWith(range.slice(0, -1))),
  );
}
