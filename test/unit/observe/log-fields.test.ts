// The table of log fields makes the line, the page and the facts of `explain`: none of them has a field that another lacks.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogField } from '../../../gateway/catalogue/capability.ts';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { LOG_FIELDS, type LogFieldName, type RareNotes, type TextOf } from '../../../gateway/catalogue/log-fields.ts';
import type { Caller } from '../../../gateway/exchange/caller.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { Trail } from '../../../gateway/exchange/trail.ts';
import { exchangeReport } from '../../../gateway/explain/report.ts';
import { FACTS } from '../../../gateway/explain/stage-text.ts';
import { createLineOf } from '../../../gateway/observe/log/line.ts';
import { STAGES, TIMED_STAGES } from '../../../gateway/stages.ts';

const names = Object.keys(LOG_FIELDS) as LogFieldName[];
const lineOf = createLineOf(1);
const recordOf = (notes: Partial<Trail>): Record<string, unknown> =>
  JSON.parse(lineOf(Object.assign(new Trail('req_1', 'GET'), notes), 30, 1));

/** A note without a value here does not compile. */
const rare: Required<RareNotes> = {
  tunnel: 't',
  stream: 'events',
  streamEnd: 'drain',
  mcp: 'tools/call',
  tool: 'listCustomers',
  within: 'req_00000000000000000000000000',
  clientRequestId: 'mine',
  tierInPlace: 'trial',
  shadowRefusals: ['burst'],
  replayed: true,
  recorded: true,
  outcomeUnknown: true,
  retries: ['timeout'],
  retryBudgetSpent: true,
  timeout: 'timeoutMs 10000',
  upstreamBody: 'text/html, 9 bytes',
  answerViolations: ['body: type'],
  answersAlike: 1,
  droppedQuery: ['q'],
  notSent: ['cookie: a'],
  withheld: ['x-a'],
  compressed: 'gzip',
  cause: new Error('gone'),
};

const organization = {
  id: 'org_a',
  name: 'A',
  tier: 'standard',
  state: 'active',
  contacts: [],
  operator: false,
} as const;
const caller = {
  scheme: 'apiKey',
  subject: 'key_1',
  organization,
  mode: 'live',
  scopes: new Set(['a']),
} as unknown as Caller;
const byToken = { ...caller, issuer: 'idp', subject: 'user' } as Caller;
const byPerson = { ...byToken, scheme: 'session', session: 'ses_1' } as Caller;
const operation = { id: 'a', path: '/a', upstream: 'u' } as Operation;
const states = ['one', 'two'].map((policy) => ({ policy, limit: 9, windowSeconds: 60, remaining: 0, resetMs: 5 }));
const refusal = new GatewayError('insufficient_scope', {
  ...{ hint: 'h', path: '/{…}', retryAfterSeconds: 3 },
  fields: { required_scopes: ['b'], violated_policies: ['one'], max_bytes: 7 },
});

/** An exchange with everything, if there were one. */
const whole: Partial<Trail> = {
  ...{ rare, caller, operation, refusal, stage: 'forward', status: 502, code: 'insufficient_scope' },
  ...{
    clientAddress: '203.0.113.7',
    limits: { states, tightest: states[0] },
    limitSource: 'redis',
    limitDecidedAtMs: 1,
  },
  ...{ target: 'http://a:1', traceId: 't', upstreamStatus: 503, upstreamMs: 1, queuedMs: 1, attempts: 2 },
  ...{
    endedAt: Object.keys(TIMED_STAGES).map(() => 1),
    forwardedAt: 4,
    violations: [{ in: 'body', param: 'a', code: 'type' }],
  },
};

describe('the table of log fields', () => {
  it('has every member of the line, and no other', () => {
    const written = [whole, { ...whole, caller: byToken }, { ...whole, caller: byPerson }].map((notes) =>
      Object.keys(recordOf(notes)),
    );
    assert.deepEqual(new Set(written.flat()), new Set(names));
  });

  // The metrics read `answersAlike`, which stands beside `answerViolations`.
  const { answersAlike: _, ...logged } = rare;
  for (const note of Object.keys(logged) as (keyof RareNotes)[])
    for (const code of [undefined, 'rate_limited'])
      it(`brings the note ${note} to the line without any other note${code === undefined ? '' : ', of a refusal'}`, () => {
        const members = Object.keys(
          recordOf({ rare: { [note]: rare[note] }, ...(code === undefined ? {} : { code }) }),
        );
        const [field] =
          Object.entries<LogField>(LOG_FIELDS).find(
            ([, { section, notes = {} }]) => ['kind', 'rare'].includes(section) && note in notes,
          ) ?? [];
        assert.ok(members.includes(field === 'attempts' ? 'retries' : (field ?? '')), members.join());
      });

  it('takes a note back that a later one says is absent', () => {
    const trail = new Trail('req_1', 'GET');
    trail.note('cause', undefined);
    assert.equal(trail.rare, undefined);
    trail.note('cause', new Error('first'));
    trail.note('cause', undefined);
    assert.ok(!('cause' in JSON.parse(lineOf(trail, 30, 1))));
  });

  it('names for each field the stage at which explain shows it', () => {
    const told = (name: string): readonly string[] =>
      FACTS.filter(([field]) => field === name).flatMap(([, fact]) => {
        if (!('toldBy' in fact)) return Object.keys(fact);
        const by = String(fact.toldBy);
        return FACTS.some(([field]) => field === by) ? told(by) : [by];
      });
    const elsewhere = names.filter((name) => {
      const { stage } = LOG_FIELDS[name];
      return stage === 'exchange' ? false : !told(name).includes(stage);
    });
    assert.deepEqual(elsewhere, ['method']);
  });

  it('lets explain read a line with malformed members', () => {
    for (const value of [null, 'text', 7, {}, [null]])
      for (const name of names)
        assert.equal(exchangeReport({ stage: 'forward', [name]: value }).stages.length, STAGES.length);
  });

  it('does not compile where a part lacks a member, or has another name', () => {
    const [source, at] = [String('redis'), Number('2')];
    const decision: TextOf<'decision'> = `,"limit_source":"${source}","decided_at":${at}` as const;
    // @ts-expect-error a member of the part is forgotten
    const short: TextOf<'decision'> = `,"limit_source":"${source}"` as const;
    // @ts-expect-error no such member
    const other: TextOf<'decision'> = `,"source":"${source}","decided_at":${at}` as const;
    assert.deepEqual(JSON.parse(`{${decision.slice(1)}}`), { limit_source: 'redis', decided_at: 2 });
    assert.equal(new Set([decision, short, other]).size, 3);
  });
});
