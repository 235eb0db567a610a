// The event stream (RFC 8620, section 7.3): state changes of the requested types, and pings for clients that request them.
import type { ServerResponse } from 'node:http';
import { invalidParameters } from './answers.ts';
import type { Pushes } from './pushes.ts';
import { lastOf } from './query.ts';

export interface EventSource {
  /**
   * Answers with a stream that ends with the connection, or after one change where that was asked for. @throws Refused
   */
  open(accountId: string, query: URLSearchParams, response: ServerResponse): void;
  /** Ends all of them. */
  close(): void;
}

/** The shortest interval between two pings; a shorter request is raised to it. */
const PING_SECONDS_MIN = 30;

/** @param secondMs How long a second is; tests shorten it. */
export function createEventSource(pushes: Pushes, secondMs: number): EventSource {
  const streams = new Set<ServerResponse>();

  return {
    open(accountId, query, response) {
      const wanted = readWanted(query);
      streams.add(response);
      const stop = pushes.listen(accountId, (type, change) => {
        if (wanted.types && !wanted.types.includes(type)) return;
        response.write(`event: state\ndata: ${JSON.stringify(change)}\n\n`);
        if (!wanted.closeAfterState) return;
        stop();
        response.end();
      });
      const { pingSeconds } = wanted;
      const ping = () => response.write(`event: ping\ndata: {"interval":${pingSeconds}}\n\n`);
      const timer = pingSeconds > 0 ? setInterval(ping, pingSeconds * secondMs) : undefined;
      response.once('close', () => {
        clearInterval(timer);
        stop();
        streams.delete(response);
      });
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.flushHeaders();
    },
    close() {
      for (const response of streams) response.destroy();
    },
  };
}

interface Wanted {
  /** All of them where undefined. */
  readonly types: readonly string[] | undefined;
  readonly closeAfterState: boolean;
  /** 0 is never. */
  readonly pingSeconds: number;
}

function readWanted(query: URLSearchParams): Wanted {
  const types = lastOf(query, 'types') ?? '*';
  const closeAfter = lastOf(query, 'closeafter') ?? 'no';
  const ping = lastOf(query, 'ping') ?? '0';
  if (closeAfter !== 'no' && closeAfter !== 'state') throw invalidParameters('The parameter closeafter is invalid.');
  if (!/^\d{1,9}$/.test(ping)) throw invalidParameters('The parameter ping is invalid.');
  return {
    types: types === '*' ? undefined : types.split(','),
    closeAfterState: closeAfter === 'state',
    pingSeconds: Number(ping) === 0 ? 0 : Math.max(Number(ping), PING_SECONDS_MIN),
  };
}
