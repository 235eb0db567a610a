// The log line is built by hand, so this proves that it is JSON for any values.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Caller } from '../../../gateway/exchange/caller.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { Trail } from '../../../gateway/exchange/trail.ts';
import { createLineOf } from '../../../gateway/observe/log/line.ts';
import { TIMED_STAGES, type TimedStage } from '../../../gateway/stages.ts';
import { anyCharacter } from '../../support/characters.ts';

const lineOf = createLineOf();

const trailWith = (notes: Partial<Trail>): Trail => Object.assign(new Trail('req_1', 'GET'), notes);

it('is one line of JSON with any code, cause, violation and name in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const organization = {
        id: text,
        name: text,
        tier: text,
        state: 'active',
        contacts: [],
        operator: false,
      } as const;
      const caller = {
        subject: text,
        issuer: text,
        organization,
        mode: 'live',
        scopes: new Set(),
      } as unknown as Caller;
      const trail = trailWith({ caller, code: text, rare: { cause: new Error(text), answerViolations: [text] } });
      const line = lineOf(trail, 30, 1_795_190_400_000);
      assert.equal(line.indexOf('\n'), line.length - 1);
      const read = JSON.parse(line);
      assert.equal(read.organization, text);
      assert.deepEqual([read.token_issuer, read.subject, read.key_id], [text, text, undefined]);
      assert.deepEqual(read.answer_violations, [text]);
    }),
  );
});

it('prints durations with three digits behind the point', () => {
  const trail = trailWith({ target: 'http://a:1', upstreamStatus: 200, upstreamMs: 12.0304 });
  assert.match(lineOf(trail, 30, 1), /"upstream_ms":12\.030[,}]/);
});

it('leaves out an address that is not known', () => {
  assert.ok(!('client' in JSON.parse(lineOf(new Trail('req_1', 'GET'), 30, 1))));
});

it('has the time of the decision even when no limit that is enforced took part in it', () => {
  const limits = { states: [], tightest: undefined };
  const trail = trailWith({ limits, limitSource: 'process', limitDecidedAtMs: 17 });
  const { limit, limit_source, decided_at } = JSON.parse(lineOf(trail, 30, 18));
  assert.deepEqual([limit, limit_source, decided_at], [undefined, 'process', 17]);
});

it('has what each exchange was, after another one of the same operation, caller, policy and target', () => {
  const operation = { id: 'a', path: '/a', upstream: 'u' } as Operation;
  const first = { operation, target: 'http://a:1', traceId: 't', upstreamMs: 1, limitDecidedAtMs: 17 };
  const exchanges = [
    { ...first, stage: 'forward', status: 200, upstreamStatus: 200, limitSource: 'redis' },
    { ...first, stage: 'replay', status: 200, upstreamStatus: 404, limitSource: 'known' },
    { ...first, stage: 'forward', status: 200, upstreamStatus: 200, limitSource: 'known', limitDecidedAtMs: 18 },
    { ...first, operation: undefined, stage: 'match', status: 200, upstreamStatus: 200, limitSource: 'known' },
  ] as const;
  for (const [index, notes] of exchanges.entries()) {
    const read = JSON.parse(lineOf(trailWith(notes), 30 + index, index));
    assert.deepEqual(
      [read.level, read.time, read.stage, read.operation, read.upstream_status, read.limit_source, read.decided_at],
      [
        ...[30 + index, index, notes.stage, notes.operation?.id],
        ...[notes.upstreamStatus, notes.limitSource, notes.limitDecidedAtMs],
      ],
    );
  }
  assert.equal(JSON.parse(lineOf(Object.assign(new Trail('req_1', 'HEAD'), exchanges[0]), 30, 1)).method, 'HEAD');
});

it('names the worker that wrote it, and none when there is one', () => {
  const trail = new Trail('req_1', 'GET');
  assert.equal(JSON.parse(createLineOf(2)(trail, 30, 1)).worker, 2);
  assert.ok(!('worker' in JSON.parse(lineOf(trail, 30, 1))));
});

it('has the time of each stage of a refusal, up to the stage that refused', () => {
  const timed = Object.keys(TIMED_STAGES) as TimedStage[];
  const stage = timed.at(-1) as TimedStage;
  const trail = trailWith({ stage, status: 400, code: 'validation_failed' });
  for (const passed of timed.slice(0, -1)) trail.noteEnd(passed);
  assert.deepEqual(Object.keys(JSON.parse(lineOf(trail, 30, 1)).stages_ms), timed);
  const early = trailWith({ stage: 'match', status: 404, code: 'route_not_found' });
  assert.ok(!('stages_ms' in JSON.parse(lineOf(early, 30, 1))));
});
