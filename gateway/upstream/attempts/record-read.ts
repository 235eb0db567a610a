// Reads the current record from the upstream, because a request rule needs the record to make the body of the request. The read is a part
// of the attempt, so if the attempt ends, the read is aborted. If the read fails, the request of the client is treated as not sent. Throws
// upstream_bad_response.

import { headersIn } from '../../http1/client/request-head.ts';
import type { Control, Outgoing } from '../../http1/client/wire.ts';
import type { CompleteAnswer } from '../answers/answer-rules.ts';
import { BufferedAnswer } from '../relay/buffered-answer.ts';
import type { Relay } from '../relay/relay.ts';

/**
 * Header fields that describe the body or the conditions of the client's request. The read is sent without these fields, because they would
 * be wrong there.
 */
const DROPPED_HEADERS = new Set([
  ...['accept', 'accept-encoding', 'content-type', 'content-length', 'idempotency-key', 'prefer', 'last-event-id'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'],
]);

/** Returns the request for the record: a GET of the same path, for the same caller. */
export function recordRequest(outgoing: Outgoing, path: string): Outgoing {
  const headers = ['accept', 'application/json', 'accept-encoding', 'identity'];
  const given = headersIn(outgoing);
  for (let i = 0; i < given.length; i += 2) {
    const name = given[i] as string;
    if (!DROPPED_HEADERS.has(name)) headers.push(name, given[i + 1] as string);
  }
  return { method: 'GET', path, headers, body: null };
}

/** Handles the answer with the record. */
export class RecordReadAnswer extends BufferedAnswer {
  readonly #relay: Relay;

  /** @param useRecord called with the complete answer, of which the client gets nothing; if it throws, the attempt fails */
  constructor(relay: Relay, useRecord: (answer: CompleteAnswer) => void) {
    super(relay, {
      readsWhole: () => true,
      judge(answer) {
        useRecord(answer);
        return undefined;
      },
    });
    this.#relay = relay;
  }

  override onRequestStart(control: Control): void {
    this.#relay.readsRecord(control);
  }

  override onResponseEnd(): void {
    if (this.#relay.isEnded) return;
    this.#relay.readsRecord(undefined);
    super.onResponseEnd();
  }
}
