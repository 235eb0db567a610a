// Causes that are found in the counts of the last minute begin with the first answer that suffered and end with the last one, and not when
// the counts of a minute show them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { published } from '../../../gateway/console/causes/cause.ts';
import { Sampling } from '../../../gateway/console/feed/sampling.ts';
import { isoTime } from '../../../gateway/shared/text.ts';

const BOUNDS = [0.05, 0.1, 1, 5];
const START_MS = Date.parse('2027-03-01T12:00:00.000Z');
const OPERATION = 'GET /reports/daily';

interface Second {
  readonly requests: number;
  /** The bucket of their durations. */
  readonly bucket?: number;
  readonly refused?: number;
  readonly broken?: number;
  readonly failed?: number;
}

/** A gateway whose counts are read every three seconds, as alerts read them. */
function gateway() {
  let nowMs = START_MS;
  const counted = { buckets: [0, 0, 0, 0, 0], classes: [0, 0, 0, 0, 0, 0, 0] };
  const add = (to: number[], index: number, number: number) => {
    to[index] = (to[index] ?? 0) + number;
  };
  const copy = () => ({ buckets: [...counted.buckets], classes: [...counted.classes] });
  const self = {};
  const sampling = new Sampling(
    {
      samples: async () =>
        new Map([
          [
            self,
            {
              operations: [{ name: OPERATION, upstream: 'orders', ...copy() }],
              organizations: [{ name: 'org_a', ...copy() }],
              ...{ upstreams: [], refusals: [], nearLimits: [] },
            },
          ],
        ]),
      status: async () => ({ lifecycle: 'serving' }),
      versions: async () => ({}),
      recent: async () => [],
      bounds: BOUNDS,
      now: () => nowMs,
    },
    () => undefined,
  );
  return {
    close: () => sampling.stop(),
    at: (second: number) => isoTime(START_MS + second * 1000),
    /** Returns the causes that each of these seconds shows, with the second. */
    async serve(seconds: number, { requests, bucket = 0, refused = 0, broken = 0, failed = 0 }: Second) {
      const found: { readonly second: number; readonly id: string; readonly since: string; readonly text: string }[] =
        [];
      for (let passed = 0; passed < seconds; passed += 1) {
        add(counted.buckets, bucket, requests);
        add(counted.classes, refused > 0 ? 2 : failed > 0 ? 3 : 0, requests);
        add(counted.classes, 4, refused);
        add(counted.classes, 6, broken);
        nowMs += 1000;
        const second = (nowMs - START_MS) / 1000;
        if (second % 3 !== 0) continue;
        const { causes } = await sampling.causes();
        for (const cause of causes.filter(({ hasRecovered }) => !hasRecovered))
          found.push({ second, id: cause.id, since: cause.since, text: published(cause).consequence });
      }
      return found;
    },
    async recovered() {
      const { causes } = await sampling.causes();
      return causes.filter(({ hasRecovered }) => hasRecovered).map(published);
    },
    async marks() {
      const { events } = await sampling.feed({ range: '15m' });
      return events
        .filter(({ about }) => about !== undefined)
        .map(({ at, until, figures }) => ({ at, until, figures }));
    },
  };
}

test('answers that break their contract for twelve seconds', async (t) => {
  const { serve, marks, at, close } = gateway();
  t.after(close);
  assert.deepEqual(await serve(66, { requests: 4 }), []);
  const [first] = await serve(12, { requests: 4, broken: 4 });
  assert.deepEqual([first?.id, first?.since], [`contract ${OPERATION}`, at(66)]);
  await serve(60, { requests: 4 });
  assert.deepEqual(await marks(), [{ at: at(66), until: at(78), figures: { requests: 48, broken: 48 } }]);
});

test('an organization that is over its limit for twelve seconds', async (t) => {
  const { serve, marks, at, close } = gateway();
  t.after(close);
  assert.deepEqual(await serve(66, { requests: 1 }), []);
  const found = await serve(12, { requests: 10, refused: 8 });
  assert.deepEqual([found[0]?.id, found[0]?.since], ['organization org_a', at(66)]);
  assert.match(found.at(-1)?.text ?? '', /^So far: 96 of 120 requests were refused\./);
  await serve(60, { requests: 4 });
  assert.equal((await marks())[0]?.until, at(78));
});

test('a service that becomes slow is told within twelve seconds, with the durations since then', async (t) => {
  const { serve, marks, at, close } = gateway();
  t.after(close);
  assert.deepEqual(await serve(180, { requests: 100 }), []);
  const [first] = await serve(12, { requests: 3, bucket: 2 });
  assert.deepEqual([first?.id, first?.since], [`slow ${OPERATION}`, at(180)]);
  assert.match(first?.text ?? '', /^So far: \d+ requests, 9 of 10 within about 910 ms\./);
  await serve(60, { requests: 100 });
  const [mark] = await marks();
  assert.deepEqual([mark?.at, mark?.until], [at(180), at(192)]);
});

test('a service that failed has its final figures while it recovers, from which its end is told', async (t) => {
  const { serve, recovered, at, close } = gateway();
  t.after(close);
  await serve(66, { requests: 4 });
  const found = await serve(13, { requests: 10, failed: 10 });
  assert.match(found.at(-1)?.text ?? '', /^So far: 120 of 120 requests failed\./);
  await serve(35, { requests: 4 });
  const [cause] = await recovered();
  assert.equal(cause?.id, `operation ${OPERATION}`);
  // The last second is in the sample of the next two.
  assert.deepEqual([cause?.suffered, cause?.endedAt], [{ requests: 138, failed: 130 }, at(81)]);
  assert.equal(cause?.effect, '130 of 138 requests failed');
});

test('the end of a cause has the time and the figures of the history, and figures never shrink', async (t) => {
  const { serve, recovered, marks, at, close } = gateway();
  t.after(close);
  await serve(66, { requests: 4 });
  await serve(12, { requests: 4, broken: 4 });
  const figures: number[] = [];
  for (const { text } of await serve(40, { requests: 4 }))
    figures.push(...(/^So far: (\d+) of (\d+) /.exec(text)?.slice(1).map(Number) ?? []));
  assert.deepEqual([...new Set(figures)], [48]);
  const [over] = await recovered();
  assert.deepEqual([over?.id, over?.isOver, over?.endedAt], [`contract ${OPERATION}`, true, at(78)]);
  assert.deepEqual(
    (await marks()).map(({ until, figures: counted }) => [until, counted]),
    [[over?.endedAt, over?.suffered]],
  );
});
