// Checks a multipart/form-data body against its contract, in one piece or as it arrives. Throws malformed_form, json_too_complex,
// unsupported_charset and body_too_large.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Fault } from '../violations/violations.ts';
import type { FormContract, FormLimits } from './form-contract.ts';
import type { FormPlace } from './form-place.ts';
import { FormValue } from './form-value.ts';
import { delimiterIn, MultipartReader, type PartHandler } from './multipart.ts';
import { createPartCheck, type PartCheck, shapeOfPart } from './part-check.ts';
import type { PartHead } from './part-head.ts';

/** A field of this name says how the other fields are encoded (RFC 7578 section 4.6). */
const CHARSET_FIELD = '_charset_';
/** The longest text that stands for the bytes of a file when the schema is checked. */
const STAND_IN_MAX = 4096;

/** The check of one body. */
export class MultipartCheck extends MultipartReader {
  /** The form so far. */
  readonly form: FormValue;

  /** @param keep called with the number of bytes that are about to be kept; may throw */
  constructor(
    contract: FormContract,
    contentType: string | undefined,
    limits: FormLimits,
    keep: (bytes: number) => void,
  ) {
    const form = new FormValue(contract.shape, limits);
    super(delimiterIn(contentType), new CheckedParts(form, contract, limits, keep));
    this.form = form;
  }
}

/** Adds the parts of a body to the form, with the faults of each part. */
class CheckedParts implements PartHandler {
  readonly #form: FormValue;
  readonly #contract: FormContract;
  readonly #limits: FormLimits;
  readonly #keep: (bytes: number) => void;
  #textBytes = 0;
  #files = 0;
  /** The current part. */
  #place!: FormPlace;
  #part!: PartCheck;
  #isRefused = false;

  constructor(form: FormValue, contract: FormContract, limits: FormLimits, keep: (bytes: number) => void) {
    this.#form = form;
    this.#contract = contract;
    this.#limits = limits;
    this.#keep = keep;
  }

  head(head: PartHead): void {
    const place = this.#contract.placeOf(head.name);
    const { part, fault } = createPartCheck(head, place);
    this.#place = place;
    this.#part = part;
    this.#isRefused = false;
    if (fault) this.#refuse(fault);
    for (const one of this.#contract.headerChecks.get(place.keys[0] as string)?.(head) ?? []) this.#refuse(one);
  }

  data(bytes: Buffer): void {
    if (!this.#part.isFile) {
      const { bodyBytesMax } = this.#limits;
      this.#textBytes += bytes.length;
      if (this.#textBytes > bodyBytesMax)
        throw new GatewayError('body_too_large', { fields: { max_bytes: bodyBytesMax } });
      this.#keep(bytes.length);
    }
    const fault = this.#part.add(bytes);
    if (fault) this.#refuse(fault);
  }

  end(): void {
    const { text, fault } = this.#part.end();
    if (fault) this.#refuse(fault);
    if (text === undefined) {
      this.#files += 1;
      this.#form.addFile(this.#place, standIn(this.#files, this.#place));
      return;
    }
    if (this.#place.keys[0] === CHARSET_FIELD && !/^utf-?8$/i.test(text)) throw new GatewayError('unsupported_charset');
    // A part that is refused already is added as a file, because the schema must not refuse its text once more.
    if (this.#isRefused) this.#form.addFile(this.#place, text);
    else this.#form.addText(this.#place, text, this.#part.isJson);
  }

  #refuse(fault: Fault): void {
    this.#isRefused = true;
    this.#form.refuse(this.#place, fault);
  }
}

/** Returns a different text for each file, of the length that the schema demands. */
function standIn(count: number, place: FormPlace): string {
  const { bytesMin = 0, bytesMax = 0 } = shapeOfPart(place) ?? {};
  const longest = Math.max(bytesMin, Math.min(bytesMax, 16));
  return String(count)
    .padStart(Math.min(bytesMin, STAND_IN_MAX), ' ')
    .slice(-longest || undefined);
}
