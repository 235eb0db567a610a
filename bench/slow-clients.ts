// The effect of 2,000 slow clients on the others: prints the waits of normal clients alone and beside them, and the memory that one slow
// connection takes. Ends with 1 if normal clients wait more than twice as long. Argument: how many slow clients.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { pidsOf } from './contestants.ts';
import { describeMachine, residentBytesOf } from './machine.ts';
import { runPaced } from './paced.ts';
import { printTable, sentenceOf } from './print.ts';
import { CREATION, LIST, requestsOf } from './scenarios.ts';
import type { SlowCrowd, SlowReport } from './slow-crowd.ts';
import { withGateway } from './stand.ts';
import { median, percentile, round } from './statistics.ts';

const PER_SECOND = 200;
const CONNECTIONS = 16;
/** Together longer than heads are waited for, so that being cut off and coming again is part of it. */
const ROUNDS = 5;
const ROUND_MS = 5000;
const RATIO_MAX = 2;

const count = Number(process.argv[2] ?? 2000);

await withGateway({ embedded: true }, async ({ gateway }) => {
  const { port } = gateway;
  const requests = requestsOf(LIST, port, gateway.keys);
  const measure = async (who: string) => {
    const rounds: { readonly p50: number; readonly p99: number }[] = [];
    let answers = 0;
    for (let done = 0; done < ROUNDS; done += 1) {
      const paced = { port, connections: CONNECTIONS, durationMs: ROUND_MS, requests, perSecond: PER_SECOND };
      const { latencies, statuses } = await runPaced(paced);
      if (statuses[LIST.status] !== latencies.length) throw new Error(`answered ${JSON.stringify(statuses)}`);
      answers += latencies.length;
      rounds.push({ p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) });
    }
    const of = (share: 'p50' | 'p99') => round(median(rounds.map((one) => one[share])), 2);
    return { who, answers, 'p50 ms': of('p50'), 'p99 ms': of('p99') };
  };
  await runPaced({ port, connections: CONNECTIONS, durationMs: ROUND_MS, requests, perSecond: PER_SECOND });
  const alone = await measure('alone');
  const before = residentBytesOf(pidsOf(gateway));
  const [request] = requestsOf(CREATION, port, gateway.keys);
  const workerData = { port, count, request: request as Buffer } satisfies SlowCrowd;
  const crowd = new Worker(new URL('slow-crowd.ts', import.meta.url), { workerData });
  await once(crowd, 'message');
  const each = (residentBytesOf(pidsOf(gateway)) - before) / count / 1024;
  const beside = await measure(`beside ${count} slow clients`);
  crowd.postMessage('end');
  const [{ cut, statuses }] = (await once(crowd, 'message')) as [SlowReport];
  await crowd.terminate();
  const ratio = beside['p99 ms'] / alone['p99 ms'];
  process.stdout.write(`${sentenceOf(describeMachine())}.\n\n`);
  printTable([alone, beside], false);
  process.stdout.write(
    `p99 × ${round(ratio, 2)}; ${round(each, 1)} KiB for each slow connection; ${cut} were cut off and came again, ` +
      `answered ${JSON.stringify(statuses)}\n`,
  );
  process.exitCode = ratio <= RATIO_MAX ? 0 : 1;
});
