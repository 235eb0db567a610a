// What `gateway explain` says about a stage, also about stages and stores that its texts do not name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogLine } from '../../../gateway/explain/log-line.ts';
import { exchangeReport } from '../../../gateway/explain/report.ts';
import { stageText } from '../../../gateway/explain/stage-text.ts';
import { STAGES, UNREHEARSED_STAGES } from '../../../gateway/stages.ts';

test('in a simulation, the stages that need a running gateway are reported as not tried', () => {
  const unrehearsed = STAGES.filter((stage) => stage in UNREHEARSED_STAGES);
  assert.ok(unrehearsed.includes('replay'));
  const { stages } = exchangeReport({ rehearsed: true, stage: 'forward', target: 'http://things' });
  for (const { stage, outcome, told } of stages)
    assert.deepEqual(
      [outcome, outcome === 'not tried' ? told : []],
      unrehearsed.includes(stage) ? ['not tried', [UNREHEARSED_STAGES[stage]]] : ['passed', []],
      stage,
    );
});

for (const [record, when] of [
  [{}, 'before it was answered'],
  [{ bytes_out: 0 }, 'before it was answered'],
  [{ bytes_out: 512 }, 'before the whole answer was sent'],
  [{ bytes_out: 512, stream: 'sse' }, 'which ended the stream'],
] as const)
  test(`a client that leaves is no failure: ${when}, ${JSON.stringify(record)}`, () => {
    const left = { method: 'GET', route: '/v1/things', stage: 'forward', status: 499, duration_ms: 1500, ...record };
    assert.equal(exchangeReport(left).verdict, `GET /v1/things: the client left after 1.5 s, ${when}.`);
  });

for (const [source, decided, simulated] of [
  ['redis', 'decided by Redis at ', 'as Redis has counted'],
  ['other', 'decided by the store other at ', 'as the store other has counted'],
  ['unknown', 'decided by no store at ', 'as no store has counted'],
] as const) {
  test(`the limits name the store that decided: ${source}`, () => {
    const last = (record: LogLine) => stageText('limit', { limit_source: source, ...record }, 'passed').at(-1);
    assert.equal(last({ decided_at: 0 }), `${decided}1970-01-01T00:00:00.000Z`);
    assert.equal(last({ rehearsed: true }), simulated);
  });
}
