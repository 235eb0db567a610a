// The body of an answer that the gateway reads. It is an error of the upstream, which the client gets in the form of the gateway, or a body
// that is checked against the contract: before the client gets it (`refuse`) or at the same time (`report`).

import type { GatewayError } from '../../errors.ts';
import type { Forwardable } from '../../exchange.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import type { Operation } from '../../operation.ts';
import type { AttemptFailure } from '../attempts/retry-plan.ts';
import { codingOf, type DecodingFault, decodeBody, isDecodable } from '../encoding/decode.ts';
import { ERROR_BODY_BYTES_MAX, toUpstreamRefusal } from '../errors/upstream-errors.ts';
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
const TOO_LARGE = 'the body is too large to be checked';
const undecoded: Readonly<Record<DecodingFault, string>> = {
  'too large': TOO_LARGE,
  invalid: 'the body does not have the coding that Content-Encoding names',
};

export type InspectionMode = 'error' | 'report' | 'refuse';

export class InspectedBody {
  readonly #mode: InspectionMode;
  readonly #exchange: Forwardable;
  readonly #check: ContractCheck;
  readonly #status: number;
  readonly #headers: AnswerHeaders;
  readonly #bytesMax: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** The arguments are positional, because an options object would cost each inspected answer an allocation. */
  constructor(
    mode: InspectionMode,
    exchange: Forwardable,
    check: ContractCheck,
    status: number,
    headers: AnswerHeaders,
  ) {
    this.#mode = mode;
    this.#exchange = exchange;
    this.#check = check;
    this.#status = status;
    this.#headers = headers;
    this.#bytesMax = mode === 'error' ? ERROR_BODY_BYTES_MAX : CHECKED_BYTES_MAX;
  }

  /** Adds a chunk. Returns false if the body exceeds the limit. Its chunks are then dropped. */
  add(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#bytesMax) this.#chunks.push(chunk);
    else this.#chunks = [];
    return this.#bytes <= this.#bytesMax;
  }

  /** How an attempt with this fault failed. */
  get failure(): AttemptFailure {
    return this.#mode === 'error' ? 'status' : 'other';
  }

  /**
   * Returns the refusal for the client; undefined if it gets the body. Notes violations of the contract. Call it when the body is whole or
   * too long.
   */
  fault(): GatewayError | undefined {
    if (this.#mode === 'error') return toUpstreamRefusal(this.#status, this.#headers, this.whole(), this.#exchange);
    const violations = this.#violations();
    if (violations.length === 0) return undefined;
    this.#exchange.trail.note('answerViolations', violations);
    return this.#mode === 'report' ? undefined : upstreamFailure('upstream_contract_violation', 'http_protocol_error');
  }

  whole(): Buffer {
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#chunks = [body];
    return body;
  }

  /** Returns the contract violations of the whole body. */
  #violations(): readonly string[] {
    if (this.#bytes > this.#bytesMax) return [TOO_LARGE];
    const decoded = decodeBody(this.whole(), codingOf(this.#headers), CHECKED_BYTES_MAX);
    if (typeof decoded === 'string') return [undecoded[decoded]];
    const contentType = firstValueOf(this.#headers['content-type']);
    return this.#check.violations(this.#exchange.operation, this.#status, decoded, contentType);
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
