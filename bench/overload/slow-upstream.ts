// A service with a fixed capacity: a number of concurrent requests, each for the same time; further requests wait in a queue. It paces
// itself by the clock, because late timers would lower its capacity, and runs in a thread of its own, so that the load generator does not
// delay it. As a thread, it reports its port.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

interface Capacity {
  readonly atOnce: number;
  readonly eachMs: number;
}

interface SlowUpstream {
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
