// The client: a fixed number of connections, each sending its next request when the answer to the last has arrived. Requests are built
// before the clock starts, and answers are only counted, so that the load generator costs little and always the same.

import { connect, type Socket } from 'node:net';

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
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const statuses: Record<number, number> = {};
  const latencies: number[] = [];
  let next = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + options.durationMs;

  function drive(socket: Socket, done: () => void): void {
    let sentAt = 0;
    let missing = -1;
    let head = '';
    const send = () => {
      if (performance.now() >= endsAt) {
        socket.destroy();
        done();
        return;
      }
      sentAt = performance.now();
      socket.write(options.requests[next++ % options.requests.length] as Buffer);
    };
    socket.on('data', (chunk: Buffer) => {
      if (missing === -1) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        missing = length - (head.length - end - 4);
      } else missing -= chunk.length;
      if (missing > 0) return;
      const status = Number(head.slice(9, 12));
      statuses[status] = (statuses[status] ?? 0) + 1;
      latencies.push(performance.now() - sentAt);
      head = '';
      missing = -1;
      if (options.pauseMs === undefined) send();
      else setTimeout(send, options.pauseMs);
    });
    socket.on('error', (error) => {
      throw error;
    });
    socket.on('connect', send);
  }

  await Promise.all(
    Array.from(
      { length: options.connections },
      () => new Promise<void>((done) => drive(connect({ port: options.port, host: '127.0.0.1', noDelay: true }), done)),
    ),
  );
  latencies.sort((a, b) => a - b);
  return { answers: latencies.length, seconds: (performance.now() - startedAt) / 1000, statuses, latencies };
}
