// A service that can do so much and no more: so many requests at once, each for the same time, the rest in line. It keeps its own pace by
// the clock, since timers that come late would make it slower than it is said to be, and has a thread of its own, so that whoever makes the
// load does not hold it up. Run as a thread, it tells its port.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

interface Capacity {
  readonly atOnce: number;
  readonly eachMs: number;
}

export interface SlowUpstream {
  readonly url: string;
  close(): Promise<void>;
}

const PAGE = '{"data":[],"cursor":null,"has_more":false}';

/** Takes `1000 * atOnce / eachMs` requests a second. */
export async function startSlowUpstream(capacity: Capacity): Promise<SlowUpstream> {
  const worker = new Worker(new URL(import.meta.url), { workerData: capacity });
  const [port] = (await once(worker, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      await worker.terminate();
    },
  };
}

function serve({ atOnce, eachMs }: Capacity): void {
  const freeAt = new Array<number>(atOnce).fill(0);
  const server = createServer((request, response) => {
    request.resume();
    const first = freeAt.indexOf(Math.min(...freeAt));
    const doneAt = Math.max(performance.now(), freeAt[first] as number) + eachMs;
    freeAt[first] = doneAt;
    setTimeout(() => {
      response.setHeader('content-type', 'application/json');
      response.end(PAGE);
    }, doneAt - performance.now());
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
}

if (!isMainThread) serve(workerData as Capacity);
