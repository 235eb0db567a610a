// Tracks answers that stay open: event streams, JSON lines and WebSockets. Bounds their number per organization. Ends a stream if its
// caller has lost access, its operation has gone, or its process ends. Throws too_many_streams.

import { GatewayError } from '../catalogue/errors.ts';
import type { Caller } from '../exchange/caller.ts';
import type { StreamEnd, StreamKind } from '../exchange/findings.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { contain } from '../shared/faults.ts';

/** One open stream. */
interface OpenStream {
  readonly kind: StreamKind;
  readonly caller: Caller;
  readonly clientAddress: string;
  readonly operation: StreamOperation;
  /** Resolves with the caller if the request would still be let in; otherwise throws a GatewayError. */
  admitAgain(): Awaitable<Caller>;
  /** Ends the stream, if possible between two events. Called once at most. */
  end(why: StreamEnd): void;
}

interface StreamOperation {
  readonly id: string;
  readonly upstream: string;
}

interface OpenStreamsOptions {
  /** Returns the maximum number of streams that the caller's organization may have open in this process. */
  mostOf(caller: Caller): number;
  now(): number;
}

/** A change in the key store. Without members, anything may have changed. */
interface IdentityChange {
  readonly key?: string | undefined;
  readonly organization?: string | undefined;
}

/** Milliseconds between two checks of the expiry of callers. If the key store could not be read for a caller, it is read again then. */
const CHECK_EVERY_MS = 250;
/** The part of the drain in which streams of JSON lines may continue, because most of them end by themselves. */
const LINES_DRAIN_PART = 0.8;

interface Entry {
  readonly stream: OpenStream;
  caller: Caller;
  /** Whether the key store could not be read when this caller was last checked. */
  isUnanswered: boolean;
}

export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  readonly #entries = new Set<Entry>();
  readonly #byShare = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #linesTimer: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
  }

  /** Counts a stream until the returned function is called. Throws too_many_streams. */
  open(stream: OpenStream): () => void {
    const { caller, clientAddress, kind } = stream;
    this.refuseIfFull(caller, clientAddress);
    const share = shareOf(caller, clientAddress);
    const entry = { stream, caller, isUnanswered: false };
    this.#entries.add(entry);
    this.#byShare.set(share, (this.#byShare.get(share) ?? 0) + 1);
    this.#timer ??= setInterval(() => contain(() => this.#check()), CHECK_EVERY_MS).unref();
    if (this.#isDraining && kind !== 'lines') setImmediate(() => this.#end(entry, 'drain'));
    return () => this.#closed(entry, share);
  }

  /** Throws too_many_streams if the organization of the caller has as many open streams as it may have. */
  refuseIfFull(caller: Caller, clientAddress: string): void {
    const most = this.#options.mostOf(caller);
    if ((this.#byShare.get(shareOf(caller, clientAddress)) ?? 0) < most) return;
    throw new GatewayError('too_many_streams', { fields: { open_streams_max: most } });
  }

  /** Checks whether the callers that are affected by the change still have access. */
  identityChanged({ key, organization }: IdentityChange): void {
    const isAnyone = key === undefined && organization === undefined;
    for (const entry of [...this.#entries]) {
      const { subject, issuer, organization: own } = entry.caller;
      const isKey = issuer === undefined && subject === key;
      if (isAnyone || isKey || (key === undefined && own?.id === organization)) void this.#ask(entry);
    }
  }

  /** Ends the streams of a session that has ended. */
  sessionEnded(session: string): void {
    for (const entry of [...this.#entries]) if (entry.caller.session === session) this.#end(entry, 'credential');
  }

  /** Ends streams of operations that no longer exist, or that another upstream serves. */
  keepOnly(operations: readonly StreamOperation[]): void {
    const upstreams = new Map(operations.map(({ id, upstream }) => [id, upstream]));
    for (const entry of [...this.#entries]) {
      const { id, upstream } = entry.stream.operation;
      if (upstreams.get(id) !== upstream) this.#end(entry, 'reload');
    }
  }

  /** Ends all streams, event streams and WebSockets now, JSON lines when most of the time has passed. May be called more than once. */
  drain(drainMs: number): void {
    this.#isDraining = true;
    this.#endAll(['events', 'websocket']);
    this.#linesTimer ??= setTimeout(() => contain(() => this.#endAll(['lines'])), drainMs * LINES_DRAIN_PART).unref();
  }

  size(): number {
    return this.#entries.size;
  }

  counts(): Readonly<Record<StreamKind, number>> {
    const all = { events: 0, lines: 0, websocket: 0 };
    for (const { stream } of this.#entries) all[stream.kind] += 1;
    return all;
  }

  status(): { readonly open_streams: object } {
    return { open_streams: this.counts() };
  }

  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#linesTimer);
  }

  #closed(entry: Entry, share: string): void {
    if (!this.#entries.delete(entry)) return;
    const left = (this.#byShare.get(share) as number) - 1;
    if (left === 0) this.#byShare.delete(share);
    else this.#byShare.set(share, left);
    if (this.#entries.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const nowMs = this.#options.now();
    for (const entry of [...this.#entries]) {
      if (entry.caller.expiresAtMs <= nowMs) this.#end(entry, 'credential');
      else if (entry.isUnanswered) void this.#ask(entry);
    }
  }

  /** Checks whether the caller still has access. If the store cannot be read, the stream continues, and the check is repeated later. */
  async #ask(entry: Entry): Promise<void> {
    entry.isUnanswered = false;
    try {
      entry.caller = await entry.stream.admitAgain();
    } catch (error) {
      if (error instanceof GatewayError && error.entry.status === 503) entry.isUnanswered = true;
      else this.#end(entry, 'credential');
    }
  }

  #endAll(kinds: readonly StreamKind[]): void {
    for (const entry of [...this.#entries]) if (kinds.includes(entry.stream.kind)) this.#end(entry, 'drain');
  }

  #end(entry: Entry, why: StreamEnd): void {
    if (this.#entries.has(entry)) contain(() => entry.stream.end(why));
  }
}

/**
 * Returns the name under which the caller's streams are counted: the organization, otherwise the caller, or the address of an anonymous
 * client.
 */
function shareOf({ organization, subject }: Caller, clientAddress: string): string {
  if (organization !== undefined) return organization.id;
  return subject === 'anonymous' ? `address ${clientAddress}` : subject;
}
