// Checks the media type, the declared headers and the size of one part of a multipart body as it arrives. Keeps only the bytes of text.

import { isUtf8 } from 'node:buffer';
import { charsetsIn, essenceOf, isJson } from '../media-types.ts';
import type { ValueShape } from '../parameters/value-shape.ts';
import type { ViolationMessage } from '../violations/violation-messages.ts';
import { isCovered, isObjectOnly } from './form-encoding.ts';
import type { FormPlace } from './form-place.ts';
import type { PartHead } from './part-head.ts';

export interface PartCheck {
  /** Whether the part is a file, so that its bytes are counted and not kept. */
  readonly isFile: boolean;
  /** Whether the part says that it is JSON. */
  readonly isJson: boolean;
  /** Takes the next bytes. */
  add(bytes: Buffer): ViolationMessage | undefined;
  /** Call it after the last byte. Returns the text; undefined for a file. */
  end(): { readonly text?: string; readonly fault?: ViolationMessage | undefined };
}

/** Creates the check of a part, and finds the fault of its head. */
export function createPartCheck(
  head: PartHead,
  place: FormPlace,
): { part: PartCheck; fault: ViolationMessage | undefined } {
  const shape = shapeOfPart(place);
  const mediaType = head.contentType === undefined ? undefined : essenceOf(head.contentType);
  const isFile = isFilePart(head, place, shape);
  const part = isFile ? countBytes(shape) : keepText();
  const fault =
    mediaTypeFault(mediaType, place, shape, isFile) ?? (isFile ? undefined : charsetFault(head.contentType));
  return { part: { ...part, isFile, isJson: mediaType !== undefined && isJson(mediaType) }, fault };
}

/** Returns the shape of one part, which is the shape of an item if each item of a list is a part. */
export function shapeOfPart({ shape, keys }: FormPlace): ValueShape | undefined {
  return keys.length === 1 && shape?.types.has('array') ? shape.items() : shape;
}

/**
 * Whether a part is a file, because its value is bytes by the contract, or because it has a file name and the contract does not restrict
 * its text.
 */
function isFilePart({ filename }: PartHead, { encoding }: FormPlace, shape: ValueShape | undefined): boolean {
  if (shape === undefined) return filename !== undefined;
  if (shape.isBinary) return true;
  if (shape.isTextChecked) return false;
  const mayBeText = shape.types.size === 0 || shape.types.has('string');
  if (!mayBeText) return false;
  return filename !== undefined || (shape.format === undefined && encoding.contentTypes.some(isOfBytes));
}

function isOfBytes(type: string): boolean {
  return (
    /^(?:image|audio|video|font)\//.test(type) || type === 'application/octet-stream' || type === 'application/pdf'
  );
}

function mediaTypeFault(
  given: string | undefined,
  { encoding }: FormPlace,
  shape: ValueShape | undefined,
  isFile: boolean,
): ViolationMessage | undefined {
  const named = isFile && shape?.contentMediaType !== undefined ? [essenceOf(shape.contentMediaType)] : [];
  const allowed = encoding.contentTypes.length > 0 ? encoding.contentTypes : named;
  if (allowed.length === 0) return undefined;
  // A text without a Content-Type is treated as the declared type. A file without a Content-Type is text/plain (RFC 7578 section 4.4).
  if (given === undefined && (!isFile || (shape !== undefined && isObjectOnly(shape)))) return undefined;
  if (isCovered(given ?? 'text/plain', allowed)) return undefined;
  return {
    code: 'not_allowed',
    message: `Must have a Content-Type of ${allowed.join(' or ')}.`,
    constraint: { contentType: allowed },
  };
}

function charsetFault(contentType = ''): ViolationMessage | undefined {
  return charsetsIn(contentType).every((charset) => /^(?:utf-?8|us-ascii)$/i.test(charset)) ? undefined : NOT_UTF8;
}

const NOT_UTF8: ViolationMessage = { code: 'wrong_format', message: 'Must be text in UTF-8.' };

function countBytes(shape: ValueShape | undefined): Omit<PartCheck, 'isFile' | 'isJson'> {
  const { bytesMin, bytesMax } = shape ?? { bytesMin: 0, bytesMax: Number.POSITIVE_INFINITY };
  let size = 0;
  return {
    add(bytes) {
      const wasShorter = size <= bytesMax;
      size += bytes.length;
      if (!wasShorter || size <= bytesMax) return undefined;
      const message = `Must have at most ${bytesMax} byte${bytesMax === 1 ? '' : 's'}.`;
      return { code: 'too_long', message, constraint: { maxLength: bytesMax } };
    },
    end() {
      if (size >= bytesMin) return {};
      const message = `Must have at least ${bytesMin} byte${bytesMin === 1 ? '' : 's'}.`;
      return { fault: { code: 'too_short', message, constraint: { minLength: bytesMin } } };
    },
  };
}

/**
 * Collects a text in one buffer, which doubles its size when it is full. A list of pieces would be costly, because a client may send a text
 * in pieces of one byte.
 */
function keepText(): Omit<PartCheck, 'isFile' | 'isJson'> {
  let kept = Buffer.allocUnsafe(64);
  let size = 0;
  return {
    add(bytes) {
      if (size + bytes.length > kept.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * kept.length, size + bytes.length));
        kept.copy(larger, 0, 0, size);
        kept = larger;
      }
      bytes.copy(kept, size);
      size += bytes.length;
      return undefined;
    },
    end() {
      const all = kept.subarray(0, size);
      return isUtf8(all) ? { text: all.toString('utf8') } : { text: '', fault: NOT_UTF8 };
    },
  };
}
