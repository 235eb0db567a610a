// The status of several workers tells the worst that one of them knows of an upstream, and of its own load.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { worstOverload, worstUpstreams } from '../../../gateway/workers/worst-of.ts';

const target = (state: string) => ({ address: 'http://orders', mode: 'live', state });

it('an upstream is in the state in which the worker is that has the most trouble with it', () => {
  const fine = { targets: [target('healthy'), target('healthy')], breaker: { live: 'closed' } };
  const failing = { targets: [target('healthy'), target('failing')], breaker: { live: 'closed' } };
  const open = { targets: [target('healthy'), target('healthy')], breaker: { live: 'open' } };
  const latched = { ...fine, credential: 'latched' };
  const of = (...reports: object[]) => worstUpstreams(reports.map((orders) => ({ orders }))).orders;
  assert.equal(of(fine, failing), failing);
  assert.equal(of(failing, fine), failing);
  assert.equal(of(failing, open), open);
  assert.equal(of(fine, latched, fine), latched);
  assert.equal(of(fine), fine);
  // A worker that has not reloaded yet does not know it.
  assert.deepEqual(worstUpstreams([{ orders: fine }, { orders: fine, files: failing }]), {
    orders: fine,
    files: failing,
  });
});

it('a target has the latest answer that one of the workers got', () => {
  const at = (time: string | null) => ({ orders: { targets: [{ ...target('healthy'), answered_at: time }] } });
  const latest = '2026-11-28T00:00:02.000Z';
  const { orders } = worstUpstreams([at(null), at(latest), at('2026-11-28T00:00:01.000Z')]);
  assert.deepEqual(orders?.targets, [{ ...target('healthy'), answered_at: latest }]);
});

it('requests that wait for an answer are added up over all workers', () => {
  const one = { unanswered: [{ operation: 'GET /a', requests: 2, oldest_ms: 6000 }] };
  const other = {
    unanswered: [
      { operation: 'GET /a', requests: 3, oldest_ms: 9000 },
      { operation: 'GET /b', requests: 1, oldest_ms: 5000 },
    ],
  };
  const { orders } = worstUpstreams<object>([{ orders: one }, { orders: {} }, { orders: other }]);
  assert.deepEqual(orders, {
    unanswered: [
      { operation: 'GET /a', requests: 5, oldest_ms: 9000 },
      { operation: 'GET /b', requests: 1, oldest_ms: 5000 },
    ],
  });
});

it('the load is the highest load of a worker', () => {
  const idle = { shedding: false, loop_overloaded: false, loop_delay_ms: 1 };
  const shedding = { ...idle, shedding: true };
  const late = { ...idle, loop_overloaded: true };
  assert.equal(worstOverload([idle, shedding, idle]), shedding);
  assert.equal(worstOverload([shedding, late]), late);
  assert.equal(worstOverload([]), undefined);
});
