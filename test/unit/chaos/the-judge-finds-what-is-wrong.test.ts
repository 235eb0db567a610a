// The judge of `npm run chaos` would find the faults that it reports as absent.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDisturbances } from '../../chaos/disturbances.ts';
import type { Exchange } from '../../chaos/exchanges.ts';
import type { Execution, State } from '../../chaos/journal.ts';
import { createJudge, type Verdict } from '../../chaos/judge.ts';
import type { Outcome } from '../../chaos/sending.ts';

const state: State = { id: 'org_a-1', ordinal: 1, version: 1, note: 'w1', size: 0 };
const execution: Execution = { ...state, write: 'w1', organization: 'org_a', at: 1000 };

const answered = (status: number, body: object): Outcome => ({
  kind: 'answered',
  status,
  headers: { 'content-type': 'application/json', 'x-request-id': 'req_1' },
  body: JSON.stringify(body),
});
const refused = (status: number, code: string, more: object = {}) =>
  answered(status, {
    error: { type: 'api_error', code, message: 'No.', retryable: false, request_id: 'req_1', ...more },
  });
const create = (outcome: Outcome, more: Partial<Exchange> = {}): Exchange => ({
  kind: 'create',
  organization: 'org_a',
  write: 'w1',
  sentAt: 900,
  endedAt: 1100,
  outcome,
  ...more,
});
const read = (shown: object, more: Partial<Exchange> = {}): Exchange => ({
  kind: 'get',
  organization: 'org_a',
  entry: 'org_a-1',
  sentAt: 1200,
  endedAt: 1300,
  outcome: answered(200, shown),
  ...more,
});
const done = create(answered(201, state));

function judged(
  exchanges: readonly Exchange[],
  executions: readonly Execution[] = [execution],
  broken = true,
): Verdict {
  const disturbances = createDisturbances(() => 950);
  const kind = { name: 'target killed', breaksConnections: false, endsStreams: false, losesKeys: false };
  if (broken) disturbances.begin(kind).endedAt = 1000;
  const judge = createJudge(disturbances);
  for (const exchange of exchanges) judge.note(exchange);
  return judge.conclude(executions);
}

describe('the judge', () => {
  it('reports nothing about correct exchanges', () => {
    const list = read({ data: [state] }, { kind: 'list', atLeast: 1 });
    const { wrong, lost, hanging, doubled, sent, writesDone } = judged([done, read(state, { atLeast: 1 }), list]);
    assert.deepEqual([wrong, lost, hanging, doubled, sent, writesDone], [[], [], [], [], 3, 1]);
  });

  it('does not blame the gateway for a client that has left', () => {
    const left = create({ kind: 'left' }, { key: 'k' });
    const { wrong, lost, doubled, writesRepeated } = judged([left, create(answered(201, state), { key: 'k' })]);
    assert.deepEqual([wrong, lost, doubled, writesRepeated], [[], [], [], 1]);
  });

  it('does not explain a failure by a disturbance that must be harmless', () => {
    const disturbances = createDisturbances(() => 950);
    const kind = { name: 'hostile clients', breaksConnections: false, endsStreams: false, losesKeys: false };
    disturbances.begin({ ...kind, explainsNothing: true });
    assert.equal(disturbances.explainFailure({ sentAt: 960, endedAt: 970 }), false);
  });

  const faults: Record<string, { exchanges: Exchange[]; executions?: Execution[]; broken?: boolean; finds: RegExp }> = {
    'a write that was never done': { exchanges: [done], executions: [], finds: /never done/ },
    'an answer to a write that describes another': {
      exchanges: [create(answered(201, { ...state, note: 'w2' }))],
      finds: /not the outcome/,
    },
    'a write that was never sent': { exchanges: [], finds: /was never sent/ },
    'a key that is answered in two ways': {
      exchanges: [create(answered(201, state), { key: 'k' }), create(answered(200, state), { key: 'k' })],
      finds: /answered in 2 ways/,
    },
    'a write that was done, although its error allows a repetition': {
      exchanges: [create(refused(502, 'upstream_unreachable', { retryable: true }))],
      finds: /although it may be sent again/,
    },
    'a state that never was': { exchanges: [done, read({ ...state, note: 'x' })], finds: /never had/ },
    'the entry of another organization': {
      exchanges: [done, read(state, { entry: 'org_a-2' })],
      finds: /another entry/,
    },
    'a state older than one that was seen': { exchanges: [done, read(state, { atLeast: 2 })], finds: /older/ },
    'half a long entry': { exchanges: [done, read({ ...state, size: 10, filler: 'x' })], finds: /never had/ },
    'a list without an entry that was seen': {
      exchanges: [done, read({ data: [] }, { kind: 'list', atLeast: 1 })],
      finds: /without the entry/,
    },
    'an error while nothing was broken': {
      exchanges: [create(refused(504, 'upstream_timeout'))],
      executions: [],
      broken: false,
      finds: /nothing was broken/,
    },
    'an error that is not in the catalogue': {
      exchanges: [create(refused(500, 'oops'))],
      executions: [],
      finds: /not in the catalogue/,
    },
    'an error with another status': {
      exchanges: [create(refused(500, 'upstream_timeout'))],
      executions: [],
      finds: /not as the catalogue says/,
    },
    'an error without the id of its request': {
      exchanges: [create(refused(504, 'upstream_timeout', { request_id: 'req_2' }))],
      executions: [],
      finds: /without the id/,
    },
    'a page in the place of an error': {
      exchanges: [create(answered(502, {}))],
      executions: [],
      finds: /no error object/,
    },
    'a key that is refused': {
      exchanges: [create(refused(401, 'api_key_invalid', { type: 'authentication_error' }))],
      executions: [],
      finds: /a good key is refused/,
    },
    'an outcome that is unknown although the upstream honours keys': {
      exchanges: [create(refused(409, 'idempotency_outcome_unknown', { type: 'idempotency_error' }), { key: 'k' })],
      finds: /honours keys/,
    },
    'a mistake of the gateway': {
      exchanges: [create(refused(500, 'internal_error'))],
      executions: [],
      finds: /not to be refused like this/,
    },
  };
  for (const [what, { exchanges, executions, broken, finds }] of Object.entries(faults)) {
    it(`finds ${what}`, () => {
      const { wrong } = judged(exchanges, executions, broken);
      assert.match(wrong.join('\n'), finds);
    });
  }

  it('finds a keyed write that was executed twice by an upstream that does not honour keys', () => {
    const twice = [execution, { ...execution, id: 'org_a-2', ordinal: 2 }];
    const unknown = refused(409, 'idempotency_outcome_unknown', { type: 'idempotency_error' });
    const plain = { key: 'k', isPlain: true };
    const attempts = [create({ kind: 'cut', status: 201 }, plain), create(unknown, plain)];
    assert.equal(judged(attempts, twice).doubled.length, 1);
    const { doubled, wrong } = judged(attempts);
    assert.deepEqual([doubled, wrong], [[], []], 'once is right');
  });

  it('finds a write that was executed twice, one that hangs, and a connection that broke for no reason', () => {
    const twice = [execution, { ...execution, id: 'org_a-2', ordinal: 2 }];
    assert.equal(judged([done], twice).doubled.length, 1);
    assert.equal(judged([create({ kind: 'hanging' })]).hanging.length, 1);
    assert.equal(judged([create({ kind: 'broken', reason: 'ECONNRESET' })]).lost.length, 1);
    assert.equal(judged([create({ kind: 'cut', status: 201 })], [], false).lost.length, 1);
  });
});
