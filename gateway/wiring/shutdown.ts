// Ends the process without losing a request. Load balancers are told first, then the last connections are served, then every part drains
// and closes.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Lifecycle } from '../observe/admin/status.ts';
import type { Listeners } from './listeners.ts';
import type { Parts } from './parts.ts';

/** The time between accepting the last connection and reading the last byte that its client has sent. */
const LAST_REQUESTS_MS = 200;

interface ShutdownOptions {
  readonly parts: Pick<Parts, 'drain' | 'close'>;
  readonly listeners: Pick<Listeners, 'stopListening' | 'announceEnd'>;
  /** Milliseconds between the end of readiness and the end of listening, and the most that requests in progress may take. */
  readonly timeouts: { readonly drainDelayMs: number; readonly drainMs: number };
  /** Ends open event streams, and streams that are opened later. */
  endStreams(): void;
  /** Stops reloads, so that no other configuration comes into force. */
  stopReloads(): void;
  onLifecycle(next: Lifecycle): void;
}

/**
 * Turns readiness off, finishes the requests in progress and closes every part.
 *
 * @param handOver accept no more connections from the start, because other processes listen on the same port
 */
export async function shutDown(options: ShutdownOptions, handOver: boolean): Promise<void> {
  const { parts, listeners } = options;
  const { drainDelayMs, drainMs } = options.timeouts;
  options.onLifecycle('ending');
  options.stopReloads();
  if (handOver) listeners.stopListening();
  listeners.announceEnd();
  if (drainDelayMs > 0) {
    await serveFor(drainDelayMs);
    // A load balancer may have sent connections until now. Their first requests are served, because clients do not retry requests on new
    // connections.
    listeners.stopListening();
    // The client of an ended event stream asks for it again at once, mostly on the same connection. This request gets an answer with
    // `Connection: close`.
    options.endStreams();
    await serveFor(Math.min(drainDelayMs, LAST_REQUESTS_MS));
  }
  options.onLifecycle('draining');
  await parts.drain(drainMs);
  await parts.close();
}

/**
 * Waits for this time and two more turns. A busy event loop runs timers first, so the two turns accept and read connections that arrived in
 * that time.
 */
async function serveFor(ms: number): Promise<void> {
  await sleep(ms);
  await nextTurn();
  await nextTurn();
}
