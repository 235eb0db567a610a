// A sending that cannot begin: the thrown error goes to the client whose request it is, never to the request that released the place.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { it } from 'node:test';
import type { Forwardable as Fresh } from '../../../gateway/exchange/exchange.ts';
import { Trail } from '../../../gateway/exchange/trail.ts';
import { Attempts } from '../../../gateway/upstream/attempts/attempts.ts';
import type { RetryBudget } from '../../../gateway/upstream/attempts/retry-budget.ts';
import { createUpstreamRoutes } from '../../../gateway/upstream/routes.ts';
import type { Target, Targets } from '../../../gateway/upstream/targets/targets.ts';
import { openAccesses } from './accesses.ts';

const target = { origin: 'http://127.0.0.1:1' } as Target;

function createScene() {
  const accesses = openAccesses();
  accesses.apply({ books: { live: [target.origin], connections: 1, maxQueued: 10, maxInFlight: 1 } }, 0.5);
  const entry = {
    live: [target.origin],
    timeoutMs: 60_000,
    idleTimeoutMs: 30_000,
    retry: { attempts: 0, budgetPercent: 20 },
    honoursIdempotencyKey: false,
    sendClientAddress: true,
    answers: [],
    requests: [],
  };
  const way =
    createUpstreamRoutes({ books: entry }, accesses, {}, () => performance.now()).get('books') ?? assert.fail();
  let outstanding = 0;
  const targets: Pick<Targets, 'pick' | 'noteResult'> = {
    pick() {
      outstanding += 1;
      return target;
    },
    noteResult() {
      outstanding -= 1;
    },
  };
  const response = Object.assign(new EventEmitter(), { destroyed: false });
  const fresh = {
    operation: { upstream: 'books' },
    caller: { mode: 'live', subject: 'a subject' },
    response,
    trail: new Trail('req_1', 'GET'),
  } as unknown as Fresh;
  const options = {
    targets: targets as Targets,
    answerCheck: {} as never,
    openStream: () => assert.fail('no stream'),
  };
  const failing = new Error('not begun');
  const send = () => {
    const budget: RetryBudget = { ...way.budget, noteRequest: () => assert.fail(failing) };
    const deadlineAt = performance.now() + 60_000;
    return new Attempts(options, fresh, { ...way, budget }, deadlineAt, undefined, () => undefined).run();
  };
  return {
    concurrency: way.concurrency,
    failing,
    send,
    outstanding: () => outstanding,
    listeners: () => response.listenerCount('close'),
  };
}

it('rejects where it has a place at once, and gives that back', async () => {
  const { concurrency, failing, send, outstanding, listeners } = createScene();
  await assert.rejects(send(), failing);
  assert.deepEqual([concurrency.inFlight(), outstanding(), listeners()], [0, 0, 0]);
});

it('rejects where it was let in from the line, and the next one is let in', async () => {
  const { concurrency, failing, send, outstanding, listeners } = createScene();
  const place = concurrency.take('a subject') ?? assert.fail('there is no place');
  const waiting = [send(), send()];
  concurrency.giveBack(place);
  for (const sending of waiting) await assert.rejects(sending, failing);
  assert.deepEqual([concurrency.inFlight(), outstanding(), listeners()], [0, 0, 0]);
});
