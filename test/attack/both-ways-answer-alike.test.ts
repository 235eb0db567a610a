// The fast path and Node's HTTP server, side by side: the table of known attacks (every other row, and all in the full run), and requests
// that were changed at random, get the same bytes from a gateway with the fast path and from one without, but for dates and ids.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { openConnection, requestOf } from '../support/connection.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { thingsAt } from '../support/things.ts';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';
import { allCases } from './cases/all.ts';
import { LIMITS } from './cases/limits.ts';
import { casePaths } from './cases/run.ts';
import { mutated } from './mutations.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 3) * 8;
const AT_ONCE = 8;
/** Ends a connection that is still open. */
const last = requestOf('GET /v1/last', { Connection: 'close' });

interface Side {
  readonly gateway: TestGateway;
  readonly key: string;
}

const upstream = await startRecordingUpstream();
const sides = await Promise.all(
  [true, false].map(async (fastPath) => {
    const gateway = await startGateway({
      ...thingsAt(upstream.url, {}, casePaths),
      gateway: { limits: LIMITS, http: { fastPath }, timeouts: { headersMs: 400, requestMs: 400 } },
    });
    return { gateway, key: (await gateway.issueKey()).key };
  }),
);
after(async () => {
  await Promise.all(sides.map(({ gateway }) => gateway.stop()));
  await upstream.close();
});

/** Everything that comes back until the gateway closes, with words in the place of what differs by itself. */
async function received({ gateway, key }: Side, sent: string, ends: boolean): Promise<string> {
  const connection = await openConnection(gateway.port);
  connection.send(Buffer.from(sent.replaceAll('KEY', key), 'latin1'));
  if (ends) connection.socket.end();
  else {
    await Promise.race([new Promise((resolve) => connection.socket.once('data', resolve)), sleep(100)]);
    connection.send(last);
  }
  const how = await Promise.race([connection.closed, sleep(5000, 'open', { ref: false })]);
  const text = connection.rest().toString('latin1');
  connection.destroy();
  return `${masked(text)}[${how}]`;
}

function masked(text: string): string {
  return (
    text
      .replaceAll('HTTP/1.1 100 Continue\r\n\r\n', '')
      .replace(/^Date: .*$/gm, 'Date')
      .replace(/^\{"keys":\[.*\]\}/gm, 'KEYS')
      .replace(/req_[0-9A-Z]{26}/g, 'ID')
      // Each gateway counts for itself; whether a request with a broken chunk is counted depends on when the chunk is found.
      .replace(/^(?:X-)?RateLimit[\w-]*: .*\r\n/gim, '')
  );
}

const both = (sent: string, ends = false) => Promise.all(sides.map((side) => received(side, sent, ends)));

/** Both again, up to three times, while the time of a request ended on one side only: the process may have stood still. */
async function bothInTime(sent: string, ends = false): Promise<readonly string[]> {
  let texts = await both(sent, ends);
  for (let again = 0; again < 3; again += 1) {
    if (texts.filter((text) => text.includes('request_timeout')).length !== 1) break;
    texts = await both(sent, ends);
  }
  return texts;
}

/**
 * The first answers to a changed request. Bytes that are handed over are parsed in one go; those that Node reads by itself are parsed in
 * steps, between which a request may be refused for something else before its broken chunk is found, and the end of its connection be known
 * or not from what follows.
 */
async function assertFirstAlike(sent: string): Promise<void> {
  const [fast = '', slow = ''] = await bothInTime(sent);
  if (/transfer-encoding/i.test(sent) && [fast, slow].some((text) => text.includes('malformed_http'))) return;
  const first = (text: string) =>
    text.split(/(?=HTTP\/1\.1 )/)[0]?.replace(/^(?:Connection|Keep-Alive): .*\r\n|\[\w+\]$/gm, '');
  assert.equal(first(fast), first(slow));
}

describe('the table of known attacks', () => {
  for (const { name, sent, ends } of allCases.filter((_, row) => LIMIT_RUNS > 1 || row % 2 === 0)) {
    it(name, async () => {
      const [fast, slow] = await bothInTime(sent, ends);
      assert.equal(fast, slow);
    });
  }
});

it('requests that were changed', { timeout: 900_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutated, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (texts) => {
      await Promise.all(texts.map(assertFirstAlike));
    }),
    { numRuns: RUNS / AT_ONCE },
  );
});
