// A flush leaves the process and the store to requests: it is cut into pieces, and rests between its calls.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Machine, REAL_MACHINE } from '../../../gateway/shared/machine.ts';
import type { UsageStore } from '../../../gateway/usage/store.ts';
import { UsageWriter } from '../../../gateway/usage/writer.ts';
import { callerOf, ended, operationOf } from './samples.ts';

const CALL_MS = 5;
/** A process that ends waits so long for the store. */
const CLOSE_MAX_MS = 2000;
const list = operationOf('listThings');

/** A writer on a store whose calls take CALL_MS, with all that it does in its order. */
function writerOn(more: { readonly callMs?: number; readonly isGated?: boolean; readonly fails?: boolean } = {}) {
  const { callMs = CALL_MS, isGated = false, fails = false } = more;
  const gate = Promise.withResolvers<void>();
  if (!isGated) gate.resolve();
  const done: ({ readonly call: number } | { readonly rest: number } | 'turn')[] = [];
  let clockMs = 0;
  const machine: Machine = {
    ...REAL_MACHINE,
    performance: { now: () => clockMs },
    setImmediate(run, ...args) {
      done.push('turn');
      return setImmediate(run, ...args);
    },
    sleep(ms) {
      if (ms === CLOSE_MAX_MS) return new Promise(() => {});
      done.push({ rest: ms });
      clockMs += ms;
      return Promise.resolve();
    },
  };
  const store: UsageStore = {
    batchesMax: 32,
    async add(_writer, batches) {
      await gate.promise;
      done.push({ call: batches.reduce((sum, { entries }) => sum + entries.length, 0) });
      clockMs += callMs;
      if (fails) throw new Error('the store is away');
    },
    mark() {},
    end() {},
    marks: () => [],
    async *scan() {},
    purge() {},
    close() {},
  };
  const writer = new UsageWriter({ open: () => store, now: () => 1_800_000_000_000, machine, onChange() {} });
  const count = (organizations: number) => {
    for (let index = 0; index < organizations; index += 1)
      writer.count(ended(callerOf(`key_${index}`, `org_${index}`), list, 200));
  };
  return { writer, done, count, gate };
}

describe('a flush', () => {
  it('makes batches in pieces, and serves requests in between', async () => {
    const { writer, done, count } = writerOn();
    count(1000);
    await writer.flush();
    const beforeFirstCall = done.slice(
      0,
      done.findIndex((act) => act !== 'turn'),
    );
    assert.equal(beforeFirstCall.length, 10);
    await writer.close();
  });

  it('rests four times as long as each call has taken', async () => {
    const { writer, done, count } = writerOn();
    count(96);
    await writer.flush();
    assert.deepEqual(
      done.filter((act) => act !== 'turn'),
      [{ call: 32 }, { rest: 20 }, { call: 32 }, { rest: 20 }, { call: 32 }, { rest: 20 }],
    );
    await writer.close();
  });

  it('rests for a tenth of a second at most, and for two seconds in all', async () => {
    const { writer, done, count } = writerOn({ callMs: 150 });
    count(32 * 25);
    await writer.flush();
    const rests = done.flatMap((act) => (typeof act === 'object' && 'rest' in act ? [act.rest] : []));
    assert.deepEqual(
      rests,
      Array.from({ length: 20 }, () => 100),
    );
    assert.equal(writer.status().waiting, 0);
    await writer.close();
  });

  it('counts each entry that waits once, while it is cut', async () => {
    const { writer, count } = writerOn();
    count(1000);
    const most: number[] = [];
    const flushed = writer.flush();
    for (let turn = 0; turn < 10; turn += 1) {
      most.push(writer.status().waiting);
      await new Promise(setImmediate);
    }
    await flushed;
    assert.ok(Math.max(...most) <= 1000, `${most}`);
    await writer.close();
  });

  it('does not rest after a call that failed, which took its time limit', async () => {
    const { writer, done, count } = writerOn({ fails: true });
    count(96);
    await writer.flush();
    assert.deepEqual(
      done.filter((act) => act !== 'turn'),
      [{ call: 32 }, { call: 1 }, { call: 1 }],
    );
    await writer.close();
  });

  it('does not rest when the process ends', async () => {
    const { writer, done, count } = writerOn();
    count(96);
    await writer.close();
    assert.deepEqual(
      done.filter((act) => act !== 'turn'),
      [{ call: 32 }, { call: 32 }, { call: 32 }],
    );
  });

  it('writes what fills the tally in the middle of it', async () => {
    const { writer, done, count } = writerOn();
    count(15_000);
    await writer.flush();
    await writer.flush();
    const written = done.reduce((sum, act) => sum + (typeof act === 'object' && 'call' in act ? act.call : 0), 0);
    assert.deepEqual([written, writer.status().waiting, writer.status().folded], [15_000, 0, 0]);
    await writer.close();
  });

  it('reports its own unwritten counts, and not those of the next flush', async () => {
    const { writer, count, gate } = writerOn({ isGated: true });
    count(1);
    const first = writer.flush();
    await new Promise(setImmediate);
    count(1);
    const second = writer.flush();
    gate.resolve();
    assert.equal((await first).has('org_0'), false);
    assert.equal((await second).has('org_0'), false);
    await writer.close();
  });
});
