// Requests leave only garbage that the collector of new objects finds (docs/decisions/0017-memory-that-dies-young.md). It counts bytes, not
// time. The load comes at once after the start, because V8 judges then which objects live long.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runLoad } from '../../bench/load.ts';
import { LIST, requestsOf, verify } from '../../bench/scenarios.ts';
import { withGateway } from '../../bench/stand.ts';
import { median } from '../../bench/statistics.ts';

const LOG = 'log';
const TRACE = `data:text/javascript,${encodeURIComponent(`import { setFlagsFromString } from 'node:v8'; setFlagsFromString('--trace-gc-nvp');`)}`;
/** Starts differ: without `--no-allocation-site-pretenuring`, five of seven kept a fifth of what requests allocate. */
const STARTS = 3;
const NEW_BYTES = 25_165_824;

for (let start = 1; start <= STARTS; start += 1) {
  test(`hardly any of what requests allocate grows old, start ${start}`, async () => {
    const stand = { output: LOG, environment: () => ({ NODE_OPTIONS: `--import=${TRACE}` }) };
    await withGateway(stand, async ({ gateway, directory }) => {
      const { port } = gateway;
      const requests = requestsOf(LIST, port, LIST.keysOf(gateway));
      const load = { port, connections: 64, requests, durationMs: 1000 };
      // A busy machine needs longer for as many.
      while (promotedBytes(directory).length < 40) verify(gateway.name, LIST, await runLoad(load), undefined);
      const promoted = promotedBytes(directory).slice(-15);
      assert.ok(median(promoted) < NEW_BYTES / 20, `${median(promoted)} bytes grew old in the median collection`);
    });
  });
}

/** What each collection of new objects so far has moved into old space. */
function promotedBytes(directory: string): number[] {
  const lines = readFileSync(join(directory, LOG), 'utf8').split('\n');
  return lines.flatMap((line) => (line.includes(' gc=s ') ? [Number(/ promoted=(\d+)/.exec(line)?.[1])] : []));
}
