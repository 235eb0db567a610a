// Reads from the upstream what an attempt needs before it sends the client's request. The read ends with the attempt, and nothing of the
// client's request counts as sent meanwhile. Throws upstream_bad_response.

import { headersIn } from '../../http1/client/request-head.ts';
import type { Control, Outgoing } from '../../http1/client/wire.ts';
import type { CompleteAnswer } from '../answers/judge.ts';
import { BufferedAnswer } from '../relay/buffered-answer.ts';
import type { Relay } from '../relay/relay.ts';

/** Fields that are about the body or the conditions of the client's own request. */
const ofTheClientsRequest = new Set([
  ...['accept', 'accept-encoding', 'content-type', 'content-length', 'idempotency-key', 'prefer', 'last-event-id'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'],
]);

/** A GET of the same path in the name of the same client. */
export function readingRequest(outgoing: Outgoing, path: string): Outgoing {
  const headers = ['accept', 'application/json', 'accept-encoding', 'identity'];
  const given = headersIn(outgoing);
  for (let i = 0; i < given.length; i += 2) {
    const name = given[i] as string;
    if (!ofTheClientsRequest.has(name)) headers.push(name, given[i + 1] as string);
  }
  return { method: 'GET', path, headers, body: null };
}

export class ReadAnswer extends BufferedAnswer {
  readonly #relay: Relay;

  /** @param onAnswer called with the complete answer; what it throws fails the attempt */
  constructor(relay: Relay, onAnswer: (answer: CompleteAnswer) => void) {
    super(relay, () => true, onAnswer);
    this.#relay = relay;
  }

  override onRequestStart(control: Control): void {
    this.#relay.readsFirst(control);
  }

  override onResponseEnd(): void {
    if (this.#relay.ended) return;
    this.#relay.readsFirst(undefined);
    super.onResponseEnd();
  }
}
