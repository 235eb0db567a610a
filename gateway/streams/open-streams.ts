// Answers that stay open: event streams, JSON lines and WebSockets. Bounds them per organization, and ends those whose caller, operation
// or process may not go on. Throws too_many_streams.

import type { Caller } from '../caller.ts';
import { GatewayError } from '../errors.ts';
import type { StreamEnd, StreamKind } from '../findings.ts';
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
  /** The most streams that the organization of this caller may have open in this process. */
  mostOf(caller: Caller): number;
  now(): number;
}

/** What changed in the key store: without members, anything may have changed. */
interface IdentityChange {
  readonly key?: string | undefined;
  readonly organization?: string | undefined;
}

export interface OpenStreams {
  /** Counts a stream until the returned function is called. Throws too_many_streams. */
  open(stream: OpenStream): () => void;
  /** Throws too_many_streams if the organization of the caller has as many open as it may. */
  refuseIfFull(caller: Caller, clientAddress: string): void;
  /** Asks again whether the callers concerned may go on. */
  identityChanged(change: IdentityChange): void;
  /** Ends the streams of a session that has ended. */
  sessionEnded(session: string): void;
  /** Ends streams of operations that no longer exist, or that another upstream serves. */
  use(operations: readonly StreamOperation[]): void;
  /** Ends all streams: event streams and WebSockets now, JSON lines when most of the time has passed. May be called again. */
  drain(drainMs: number): void;
  size(): number;
  counts(): Readonly<Record<StreamKind, number>>;
  status(): object;
  close(): void;
}

/** How often the expiry of callers is looked at, and questions that had no answer are asked again. */
const LOOK_EVERY_MS = 250;
/** The part of the drain in which JSON lines, which mostly end by themselves, may go on. */
const LINES_DRAIN_PART = 0.8;

interface Entry {
  readonly stream: OpenStream;
  caller: Caller;
  /** Whether the key store could not be read when this caller was last asked for. */
  isUnanswered: boolean;
}

export function createOpenStreams({ mostOf, now }: OpenStreamsOptions): OpenStreams {
  const entries = new Set<Entry>();
  const byShare = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let linesTimer: NodeJS.Timeout | undefined;
  let isDraining = false;

  function refuseIfFull(caller: Caller, clientAddress: string): void {
    const most = mostOf(caller);
    if ((byShare.get(shareOf(caller, clientAddress)) ?? 0) < most) return;
    throw new GatewayError('too_many_streams', { fields: { open_streams_max: most } });
  }

  function end(entry: Entry, why: StreamEnd): void {
    if (entries.has(entry)) contain(() => entry.stream.end(why));
  }

  function look(): void {
    const nowMs = now();
    for (const entry of [...entries]) {
      if (entry.caller.expiresAtMs <= nowMs) end(entry, 'credential');
      else if (entry.isUnanswered) void ask(entry);
    }
  }

  /** A store that cannot be read says nothing against a caller: it is asked again. */
  async function ask(entry: Entry): Promise<void> {
    entry.isUnanswered = false;
    try {
      entry.caller = await entry.stream.admitAgain();
    } catch (error) {
      if (error instanceof GatewayError && error.entry.status === 503) entry.isUnanswered = true;
      else end(entry, 'credential');
    }
  }

  function drained(kinds: readonly StreamKind[]): void {
    for (const entry of [...entries]) if (kinds.includes(entry.stream.kind)) end(entry, 'drain');
  }

  function counts(): Record<StreamKind, number> {
    const all = { events: 0, lines: 0, websocket: 0 };
    for (const { stream } of entries) all[stream.kind] += 1;
    return all;
  }

  return {
    refuseIfFull,
    open(stream) {
      const { caller, clientAddress, kind } = stream;
      refuseIfFull(caller, clientAddress);
      const share = shareOf(caller, clientAddress);
      const entry = { stream, caller, isUnanswered: false };
      entries.add(entry);
      byShare.set(share, (byShare.get(share) ?? 0) + 1);
      timer ??= setInterval(() => contain(look), LOOK_EVERY_MS).unref();
      if (isDraining && kind !== 'lines') setImmediate(() => end(entry, 'drain'));
      return () => {
        if (!entries.delete(entry)) return;
        const left = (byShare.get(share) as number) - 1;
        if (left === 0) byShare.delete(share);
        else byShare.set(share, left);
        if (entries.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    identityChanged({ key, organization }) {
      const isAnyone = key === undefined && organization === undefined;
      for (const entry of [...entries]) {
        const { subject, issuer, organization: own } = entry.caller;
        const isKey = issuer === undefined && subject === key;
        if (isAnyone || isKey || (key === undefined && own?.id === organization)) void ask(entry);
      }
    },
    sessionEnded(session) {
      for (const entry of [...entries]) if (entry.caller.session === session) end(entry, 'credential');
    },
    use(operations) {
      const upstreams = new Map(operations.map(({ id, upstream }) => [id, upstream]));
      for (const entry of [...entries]) {
        const { id, upstream } = entry.stream.operation;
        if (upstreams.get(id) !== upstream) end(entry, 'reload');
      }
    },
    drain(drainMs) {
      isDraining = true;
      drained(['events', 'websocket']);
      linesTimer ??= setTimeout(() => contain(() => drained(['lines'])), drainMs * LINES_DRAIN_PART).unref();
    },
    size: () => entries.size,
    counts,
    status: () => ({ open_streams: counts() }),
    close() {
      clearInterval(timer);
      clearTimeout(linesTimer);
    },
  };
}

/** A caller without an organization counts by itself; anonymous clients count per address. */
function shareOf({ organization, subject }: Caller, clientAddress: string): string {
  if (organization !== undefined) return organization.id;
  return subject === 'anonymous' ? `address ${clientAddress}` : subject;
}
