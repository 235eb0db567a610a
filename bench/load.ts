// Closed-loop load: a fixed number of connections, each sending its next request when the answer to the last has arrived. It finds the
// highest rate of the other side.

import { openConnection } from './connection.ts';

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** Whole requests, taken in turn. */
  readonly requests: readonly Buffer[];
  /** How long each connection rests between an answer and its next request. Default: not at all. */
  readonly pauseMs?: number;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  readonly statuses: Readonly<Record<number, number>>;
  /** Lengths of bodies that occurred. */
  readonly bodyBytes: ReadonlySet<number>;
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const tally = createTally();
  let next = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + options.durationMs;

  async function drive(done: () => void): Promise<void> {
    let sentAt = 0;
    const connection = await openConnection(options.port, (status, bodyBytes) => {
      tally.note(status, bodyBytes, performance.now() - sentAt);
      if (options.pauseMs === undefined) send();
      else setTimeout(send, options.pauseMs);
    });
    const send = () => {
      sentAt = performance.now();
      if (sentAt < endsAt) {
        connection.send(options.requests[next++ % options.requests.length] as Buffer);
        return;
      }
      connection.close();
      done();
    };
    send();
  }

  await Promise.all(Array.from({ length: options.connections }, () => new Promise<void>((done) => void drive(done))));
  return tally.result((performance.now() - startedAt) / 1000);
}

export interface Tally {
  note(status: number, bodyBytes: number, latencyMs: number): void;
  result(seconds: number): LoadResult;
}

/** Counts answers. */
export function createTally(): Tally {
  const statuses: Record<number, number> = {};
  const lengths = new Set<number>();
  const latencies: number[] = [];
  return {
    note(status, bodyBytes, latencyMs) {
      statuses[status] = (statuses[status] ?? 0) + 1;
      lengths.add(bodyBytes);
      latencies.push(latencyMs);
    },
    result(seconds) {
      latencies.sort((a, b) => a - b);
      return { answers: latencies.length, seconds, statuses, bodyBytes: lengths, latencies };
    },
  };
}
