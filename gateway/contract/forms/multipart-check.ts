// Checks a multipart/form-data body against its contract, in one piece or as it arrives. Throws malformed_form, json_too_complex,
// unsupported_charset and body_too_large.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Fault } from '../violations/violations.ts';
import type { FormContract, FormLimits } from './form-contract.ts';
import type { FormPlace } from './form-place.ts';
import { FormValue } from './form-value.ts';
import { createMultipartReader, delimiterIn, type MultipartReader } from './multipart.ts';
import { createPartCheck, type PartCheck, shapeOfPart } from './part-check.ts';

interface MultipartCheck extends MultipartReader {
  /** The form so far. */
  readonly form: FormValue;
}

/** A field of this name says how the other fields are encoded (RFC 7578 section 4.6). */
const CHARSET_FIELD = '_charset_';
/** The longest text that stands for the bytes of a file when the schema is checked. */
const STAND_IN_MAX = 4096;

/**
 * Creates the check of one body.
 *
 * @param keep called with the number of bytes that are about to be kept; may throw
 */
export function createMultipartCheck(
  contract: FormContract,
  contentType: string | undefined,
  limits: FormLimits,
  keep: (bytes: number) => void,
): MultipartCheck {
  const form = new FormValue(contract.shape, limits);
  let place: FormPlace;
  let part: PartCheck;
  let isRefused = false;
  let textBytes = 0;
  let files = 0;

  const reader = createMultipartReader(delimiterIn(contentType), {
    head(head) {
      place = contract.placeOf(head.name);
      const made = createPartCheck(head, place);
      part = made.part;
      const faults = [
        ...(made.fault ? [made.fault] : []),
        ...(contract.headerChecks.get(place.keys[0] as string)?.(head) ?? []),
      ];
      isRefused = faults.length > 0;
      for (const fault of faults) form.refuse(place, fault);
    },
    data(bytes) {
      if (!part.isFile) {
        textBytes += bytes.length;
        if (textBytes > limits.bodyBytesMax) {
          throw new GatewayError('body_too_large', { fields: { max_bytes: limits.bodyBytesMax } });
        }
        keep(bytes.length);
      }
      const fault = part.add(bytes);
      if (fault) refuse(fault);
    },
    end() {
      const { text, fault } = part.end();
      if (fault) refuse(fault);
      if (text === undefined) {
        files += 1;
        form.addFile(place, standIn(files, place));
        return;
      }
      if (place.keys[0] === CHARSET_FIELD && !/^utf-?8$/i.test(text)) throw new GatewayError('unsupported_charset');
      // A part that is refused already is added as a file, because the schema must not refuse its text once more.
      if (isRefused) form.addFile(place, text);
      else form.addText(place, text, part.isJson);
    },
  });

  function refuse(fault: Fault): void {
    isRefused = true;
    form.refuse(place, fault);
  }

  return {
    form,
    push: reader.push,
    end: reader.end,
    get isClosed() {
      return reader.isClosed;
    },
  };
}

/** Returns a different text for each file, of the length that the schema demands. */
function standIn(count: number, place: FormPlace): string {
  const { bytesMin = 0, bytesMax = 0 } = shapeOfPart(place) ?? {};
  const longest = Math.max(bytesMin, Math.min(bytesMax, 16));
  return String(count)
    .padStart(Math.min(bytesMin, STAND_IN_MAX), ' ')
    .slice(-longest || undefined);
}
