// Counts an answer that is a stream among the open streams of its caller. The gateway ends an open stream when its credential or its
// session ends, or when it reaches its longest duration.

import type { Caller } from '../exchange/caller.ts';
import type { Forwardable } from '../exchange/exchange.ts';
import type { StreamEnd, StreamKind } from '../exchange/findings.ts';
import type { Overload } from '../overload/overload.ts';
import type { OpenStreams } from '../streams/open-streams.ts';

interface OpenStreamOptions {
  readonly streams: OpenStreams;
  readonly overload: Pick<Overload, 'noteEnd'>;
  /** Authenticates and authorizes the request once more. Rejects if the request would be refused now. */
  admitAgain(exchange: Forwardable): Promise<Caller>;
  /** Calls back when the session of a caller ends, on any instance, unless the returned function is called before. */
  onSessionEnded(caller: Caller, listener: () => void): () => void;
}

/** Counts an open stream until the returned function is called. Throws too_many_streams. */
export type OpenStream = (exchange: Forwardable, kind: StreamKind, end: (why: StreamEnd) => void) => () => void;

export function createOpenStream(options: OpenStreamOptions): OpenStream {
  const { streams, overload, onSessionEnded } = options;

  return function openStream(exchange, kind, end) {
    const { caller, clientAddress, operation } = exchange;
    const admitAgain = () => options.admitAgain(exchange);
    const close = streams.open({ kind, caller, clientAddress, operation, admitAgain, end });
    // The bound of open streams replaces the bound of requests in progress.
    overload.noteEnd(exchange.state);
    const { session } = caller;
    if (session === undefined) return close;
    const unfollow = onSessionEnded(caller, () => streams.sessionEnded(session));
    return () => {
      unfollow();
      close();
    };
  };
}
