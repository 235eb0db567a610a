// The body of an answer that the gateway reads. It is an error of the upstream, which the client gets in the form of the gateway, or a body
// that is checked against the contract: before the client gets it (`refuse`) or at the same time (`report`).

import type { AnswerHeaders } from '../../http1/client/wire.ts';
import type { Operation } from '../../operation.ts';
import { codingOf, type DecodingFault, decodeBody, isDecodable } from '../encoding/decode.ts';
import { ERROR_BODY_BYTES_MAX } from '../errors/upstream-errors.ts';
import { upstreamFailure } from '../failure.ts';
import type { ItemCheck } from '../streams/answer-stream.ts';
import type { ContractDeviation } from './undeclared-answer.ts';

/** Checks answers against their contract. */
export interface ContractCheck {
  undeclared(
    operation: Operation,
    status: number,
    contentType: string | undefined,
    hasBody: boolean,
    isAsked: boolean,
  ): ContractDeviation | undefined;
  modeFor(
    operation: Operation,
    status: number,
    contentType: string | undefined,
    isAsked: boolean,
  ): 'refuse' | 'report' | 'off';
  violations(operation: Operation, status: number, body: Buffer, contentType: string | undefined): readonly string[];
  /** The check of each item of a stream; undefined if the contract has none. */
  itemCheck(operation: Operation, status: number, contentType: string | undefined): ItemCheck | undefined;
}

/** Longer answers are not checked. The length counts before and after decoding. */
const CHECKED_BYTES_MAX = 1_048_576;
export const TOO_LARGE = 'the body is too large to be checked';
const undecoded: Readonly<Record<DecodingFault, string>> = {
  'too large': TOO_LARGE,
  invalid: 'the body does not have the coding that Content-Encoding names',
};

export class InspectedBody {
  readonly #bytesMax: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(mode: 'error' | 'report' | 'refuse') {
    this.#bytesMax = mode === 'error' ? ERROR_BODY_BYTES_MAX : CHECKED_BYTES_MAX;
  }

  /** Adds a chunk. Returns false if the body is longer than what is read; nothing of it is kept. */
  add(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#bytesMax) this.#chunks.push(chunk);
    else this.#chunks = [];
    return this.#bytes <= this.#bytesMax;
  }

  whole(): Buffer {
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#chunks = [body];
    return body;
  }

  /** Returns what in a whole body contradicts the contract. */
  violations(check: ContractCheck, operation: Operation, status: number, headers: AnswerHeaders): readonly string[] {
    if (this.#bytes > this.#bytesMax) return [TOO_LARGE];
    const decoded = decodeBody(this.whole(), codingOf(headers), CHECKED_BYTES_MAX);
    if (typeof decoded === 'string') return [undecoded[decoded]];
    return check.violations(operation, status, decoded, firstValueOf(headers['content-type']));
  }
}

/**
 * Throws upstream_bad_response for an encoded answer in mode `refuse`: the request allowed no coding (forward.ts). In mode `report` a
 * decoded copy is checked; a coding that the gateway does not know passes unchecked.
 */
export function checkedMode(mode: 'refuse' | 'report' | 'off', headers: AnswerHeaders): 'refuse' | 'report' | 'pass' {
  if (mode === 'off') return 'pass';
  const coding = codingOf(headers);
  if (coding === '') return mode;
  if (mode === 'report') return isDecodable(coding) ? mode : 'pass';
  const cause = new Error(`content coding ${coding}, which the operation's answers are refused for`);
  throw upstreamFailure('upstream_bad_response', 'http_response_content_coding', cause);
}

/** Returns the first value of a field. */
export function firstValueOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
