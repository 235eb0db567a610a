// The pure parts of the page "Your account", and its requests with a browser's fetch in the place of a network.

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';

// Scripts of pages are plain JavaScript, without types.
// biome-ignore lint/suspicious/noExplicitAny: as above.
const load = (name: string): Promise<any> =>
  import(new URL(`../../../gateway/portal/assets/${name}.js`, import.meta.url).href);
const figures = await load('account-figures');
const advice = await load('account-advice');
const { createApi, createIntention, isOutcomeUnknown, Refusal } = await load('account-api');

const LIVE = `sk_${'live'}_8Fq2bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbKw3J`;
const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-11-26T01:30:00Z');

describe('what is pasted as a key', () => {
  it('may have spaces around it and the word Bearer before it', () => {
    for (const text of [LIVE, ` ${LIVE}\n`, `Bearer ${LIVE}`, `bearer  ${LIVE}`])
      assert.deepEqual(advice.readKey(text), { key: LIVE });
  });

  it('may be a test key', () => {
    const key = LIVE.replace('live', 'test');
    assert.deepEqual(advice.readKey(key), { key });
  });

  it('is not sent if it cannot be a key', () => {
    for (const text of [
      '',
      '  ',
      'short',
      `${LIVE} ${LIVE}`,
      `${LIVE}\r\nX-Evil: 1`,
      'schlüsselschlüssel',
      'a'.repeat(5000),
    ])
      assert.equal(advice.readKey(text).key, undefined, text.slice(0, 30));
  });
});

describe('limits', () => {
  const levelOf = (limit: number, used: number) =>
    figures.fillOf({ limit, used, remaining: Math.max(0, limit - used) }).level;

  it('are not green near their end', () => {
    assert.deepEqual(
      [0, 74, 75, 99, 100, 130].map((used) => levelOf(100, used)),
      ['free', 'free', 'near', 'near', 'full', 'full'],
    );
    assert.equal(levelOf(0, 0), 'full');
    assert.deepEqual(figures.fillOf({ limit: 0, used: 0, remaining: 0 }).share, 1);
  });

  it('stand in the order of need, those that refuse nothing last', () => {
    const limits = [
      { policy: 'a', limit: 10, used: 1, remaining: 9 },
      { policy: 'b', limit: 10, used: 10, remaining: 0, enforced: false },
      { policy: 'c', limit: 10, used: 9, remaining: 1 },
    ];
    assert.deepEqual(
      figures.inOrderOfNeed(limits).map(({ policy }: { policy: string }) => policy),
      ['c', 'a', 'b'],
    );
    const alike = [
      { policy: 'z', limit: 10, used: 3, remaining: 7 },
      { policy: 'a', limit: 10, used: 1, remaining: 9 },
    ];
    assert.equal(figures.inOrderOfNeed(alike)[0].policy, 'a', 'a few requests more change no places');
  });
});

describe('use', () => {
  const days = figures.lastDays(NOW_MS, 3);

  it('is of UTC days, with zeros for days without requests', () => {
    assert.deepEqual(
      days.map((ms: number) => new Date(ms).toISOString().slice(0, 10)),
      ['2026-11-24', '2026-11-25', '2026-11-26'],
    );
    const rows = [
      { from: '2026-11-26T00:00:00Z', requests: 5 },
      { from: '2026-11-24T00:00:00.000Z', requests: 2 },
      { from: '2026-11-24T00:00:00.000Z', requests: 1 },
      { from: '2026-11-01T00:00:00Z', requests: 100 },
      { from: 'broken', requests: 7 },
      { from: '2026-11-25T00:00:00Z', requests: 'many' },
    ];
    assert.deepEqual(figures.perDay(rows, days), [3, 0, 5]);
    assert.deepEqual(figures.perDay([], days), [0, 0, 0]);
  });

  it('sums months by operation, the busiest first, also what was counted without operation', () => {
    const rows = [
      { operation_id: 'a', requests: 1 },
      { operation_id: null, requests: 4 },
      { operation_id: 'a', requests: 2 },
      { operation_id: '__proto__', requests: 9 },
    ];
    assert.deepEqual(
      figures.byOperation(rows).map(({ name, requests }: { name: string; requests: number }) => [name, requests]),
      [
        ['__proto__', 9],
        ['counted together', 4],
        ['a', 3],
      ],
    );
  });

  it('has a remainder that is never negative', () => {
    assert.deepEqual(
      figures.remainderOf(
        [10, 3],
        [
          [4, 2],
          [5, 2],
        ],
      ),
      [1, 0],
    );
    assert.deepEqual(figures.remainderOf([1], []), [1]);
  });

  it('has an axis of whole requests up to at least the greatest', () => {
    for (const greatest of [0, 1, 3, 4, 7, 100, 2621, 1e9]) {
      const ticks: number[] = figures.countTicks(greatest);
      assert.ok((ticks.at(-1) ?? 0) >= greatest && ticks.length <= 6, `${greatest}: ${ticks}`);
      assert.ok(ticks.every(Number.isInteger));
    }
  });
});

test('requests of the page itself are not worth a look, changes and refusals are', () => {
  const organization = { method: 'GET', path: '/gateway/v1/organization' };
  const all = [
    { ...organization, status: 200 },
    { ...organization, status: 403, code: 'insufficient_scope' },
    { ...organization, status: 429, code: 'rate_limited' },
    { method: 'GET', path: '/gateway/v1/requests/{request_id}', status: 404 },
    { method: 'POST', path: '/gateway/v1/keys', status: 201 },
    { method: 'GET', path: '/v1/jobs', status: 200 },
    { method: 'GET', path: null, status: 404 },
    { method: 'GET', path: '/v1/jobs', status: 499 },
  ];
  assert.deepEqual(
    all.filter(figures.isWorthALook).map(({ status }) => status),
    [429, 201, 200, 404, 499],
  );
});

describe('keys', () => {
  const record = { id: 'key_1', state: 'active', prefix: LIVE.slice(0, 12), last_four: LIVE.slice(-4), scopes: ['*'] };

  it('are found by their visible ends, and not if two have the same', () => {
    assert.equal(figures.ownKeyIn([record, { ...record, id: 'key_2', last_four: 'zzzz' }], LIVE), record);
    assert.equal(figures.ownKeyIn([record, { ...record, id: 'key_2' }], LIVE), undefined);
    assert.equal(figures.ownKeyIn([{ ...record, state: 'revoked' }], LIVE), undefined);
    assert.equal(figures.ownKeyIn([{ state: 'active', prefix: '', last_four: '' }], LIVE), undefined);
    assert.equal(figures.maskOf(LIVE), `${LIVE.slice(0, 12)}…Kw3J`);
    assert.equal(figures.maskOf('short-token'), '…');
  });

  it('are changed with gateway:keys only, and what a token may do is left to the gateway', () => {
    assert.equal(figures.mayChangeKeys(record), false);
    assert.equal(figures.mayChangeKeys({ ...record, scopes: ['*', 'gateway:keys'] }), true);
    assert.equal(figures.mayChangeKeys(undefined), true);
  });

  it('get scopes of the own key only; * stands for all but those of the gateway', () => {
    const known = ['a:read', 'b:read', 'gateway:audit:read', 'gateway:keys', 'gateway:read'];
    const grantable = (scopes: string[]) => figures.grantableScopes({ scopes }, known);
    assert.deepEqual(grantable(['gateway:keys', 'a:read']), ['a:read', 'gateway:keys']);
    assert.deepEqual(grantable(['*', 'gateway:keys']), ['*', 'a:read', 'b:read', 'gateway:keys']);
    assert.deepEqual(figures.grantableScopes(undefined, known), [
      '*',
      'a:read',
      'b:read',
      'gateway:keys',
      'gateway:read',
    ]);
  });

  it('say on how many gateways a change is in force', () => {
    const text = (confirmed: number, unconfirmed: number) =>
      figures.inForceText({ confirmed, unconfirmed, waited_ms: 10_000 });
    assert.equal(text(1, 0), 'In force on the gateway after 10,000 ms.');
    assert.match(text(3, 0), /^In force on all 3 gateways/);
    assert.match(text(2, 1), /^In force on 2 gateways; 1 gateway had not confirmed it after 10 s/);
    assert.match(figures.inForceText(undefined), /within seconds/);
  });
});

describe('advice', () => {
  const on = (members: object) => advice.adviceOn(new Refusal({ message: 'm', ...members }));

  it('says what to do, whether to try again, and where to read more', () => {
    for (const [members, title, again] of [
      [{ status: 0, code: 'no_answer' }, /does not respond/, true],
      [{ status: 401, code: 'api_key_revoked' }, /not accepted/, false],
      [{ status: 403, code: 'insufficient_scope', required_scopes: ['gateway:keys'] }, /lacks gateway:keys/, false],
      [{ status: 403, code: 'grant_not_held', required_scopes: ['jobs:write'] }, /at most what it holds/, false],
      [{ status: 403, code: 'key_mode_mismatch' }, /test key/, false],
      [{ status: 403, code: 'ip_not_allowed' }, /where you are/, false],
      [{ status: 403, code: 'account_inactive' }, /may not do this/, false],
      [{ status: 404, code: 'resource_missing' }, /not there any more/, false],
      [{ status: 409, code: 'last_key' }, /last key/, false],
      [{ status: 412, code: 'precondition_failed' }, /changed/, false],
      [{ status: 429, code: 'rate_limited', retry_after: 17 }, /used up/, true],
      [{ status: 503, code: 'upstream_unavailable' }, /could not/, true],
      [{ status: 418, code: 'a_new_code' }, /refused/, false],
      [{ status: 400 }, /refused/, false],
    ] as const) {
      const found = on(members);
      assert.match(found.title, title, JSON.stringify(members));
      assert.equal(found.isSafeToRepeat, again, JSON.stringify(members));
    }
    assert.match(on({ status: 429, retry_after: 17 }).sentences.join(' '), /Wait 17 seconds/);
    assert.match(on({ status: 429, retry_after: 3000 }).sentences.join(' '), /Wait 50 minutes/);
  });

  it('links no address but those of HTTP, and no page for a code that is none', () => {
    const doc = (docUrl: unknown, code = 'last_key') => on({ status: 409, code, doc_url: docUrl }).doc;
    assert.equal(doc('https://api.example.com/docs/errors/last_key'), 'https://api.example.com/docs/errors/last_key');
    for (const address of ['javascript:alert(1)', 'data:text/html,x', '//evil', 7, undefined, ' java\nscript:alert(1)'])
      assert.equal(doc(address), '/docs/errors/last_key');
    assert.equal(doc(undefined, '../../<b>'), undefined);
  });

  it('asks for no request whose id browsers take for a step', () => {
    assert.deepEqual(['req_1', '.', '..', '...', 'a/b', '', 'x'.repeat(129)].map(figures.isAddressable), [
      true,
      false,
      false,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('requests of the page', () => {
  const json = (status: number, body: unknown, headers = {}) =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
  const signal = new AbortController().signal;

  function apiWith(...answers: (Response | Error)[]) {
    const sent: { address: string; options: RequestInit & { headers: Record<string, string> } }[] = [];
    const slept: number[] = [];
    const fetch = async (address: string, options: RequestInit & { headers: Record<string, string> }) => {
      sent.push({ address, options });
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const api = createApi(LIVE, { signal, fetch, sleep: async (ms: number) => void slept.push(ms) });
    return { api, sent, slept };
  }

  it('have the key in a header only, and no cookie, cache or redirect', async () => {
    const { api, sent } = apiWith(json(200, { data: [] }, { etag: '"1"' }));
    assert.deepEqual(
      await api.get('/usage', [
        ['by', 'day'],
        ['cursor', undefined],
        ['operation_id', 'a&b=c'],
      ]),
      {
        value: { data: [] },
        etag: '"1"',
      },
    );
    const [{ address, options } = assert.fail()] = sent;
    assert.equal(address, '/gateway/v1/usage?by=day&operation_id=a%26b%3Dc');
    assert.equal(options.headers.authorization, `Bearer ${LIVE}`);
    assert.deepEqual([options.credentials, options.cache, options.redirect], ['omit', 'no-store', 'error']);
    assert.ok(!JSON.stringify([address, { ...options.headers, authorization: '' }]).includes(LIVE));
  });

  it('are refused with what the error object says, or the status if it is none', async () => {
    const error = { code: 'rate_limited', message: 'Slow.', request_id: 'req_1', retry_after: 3, status: 200 };
    const { api } = apiWith(
      json(429, { error }),
      json(502, '<h1>Bad Gateway</h1>', { 'x-request-id': 'req_2' }),
      json(500, { error: { code: { a: 1 }, message: 5, errors: 'x', retry_after: 'soon' } }),
      json(200, 'Please log in'),
      json(200, '[]'),
    );
    const refused = () => api.get('/limits').then(assert.fail, (found: unknown) => found);
    const first = await refused();
    assert.deepEqual(
      [first.status, first.code, first.requestId, first.retryAfterSeconds],
      [429, 'rate_limited', 'req_1', 3],
    );
    const second = await refused();
    assert.deepEqual([second.status, second.code, second.requestId], [502, undefined, 'req_2']);
    const third = await refused();
    assert.deepEqual([third.code, third.violations, third.retryAfterSeconds], [undefined, [], undefined]);
    assert.equal((await refused()).code, 'unreadable_answer');
    assert.equal((await refused()).code, 'unreadable_answer');
  });

  it('that change something are sent again under one Idempotency-Key when their answer is lost', async () => {
    const lost = new TypeError('network');
    const { api, sent, slept } = apiWith(
      lost,
      json(409, { error: { code: 'idempotency_key_in_use', retryable: true, retry_after: 2 } }),
      json(201, { id: 'key_1', secret: null, secret_shown: 'before' }),
    );
    const intention = createIntention({ method: 'POST', path: '/keys', body: { scopes: ['a'] } });
    assert.equal((await api.carryOut(intention)).value.secret_shown, 'before');
    assert.equal(new Set(sent.map(({ options }) => options.headers['idempotency-key'])).size, 1);
    assert.deepEqual(slept, [1000, 3000]);
    assert.notEqual(intention.idempotencyKey, createIntention({}).idempotencyKey);
  });

  it('are given back to the reader after three attempts, and at once if sending again is pointless', async () => {
    const lost = new TypeError('network');
    const none = apiWith(lost, lost, lost, json(201, {}));
    const outcome = await none.api
      .carryOut(createIntention({ method: 'POST', path: '/keys' }))
      .then(assert.fail, String);
    assert.match(outcome, /network/);
    assert.equal(none.sent.length, 3);
    for (const answer of [
      json(409, { error: { code: 'last_key' } }),
      json(429, { error: { code: 'rate_limited', retryable: true, retry_after: 1 } }),
      json(503, { error: { code: 'upstream_unavailable', retryable: true, retry_after: 600 } }),
      json(409, { error: { code: 'idempotency_outcome_unknown', retryable: false } }),
    ]) {
      const { api, sent } = apiWith(answer);
      await assert.rejects(api.carryOut(createIntention({ method: 'POST', path: '/keys' })));
      assert.equal(sent.length, 1);
    }
  });

  it('whose outcome is not known are told from those that did nothing', () => {
    const unknown = (status: number, code?: string) => isOutcomeUnknown({ status, code });
    assert.deepEqual([unknown(0), unknown(502), unknown(409, 'idempotency_key_in_use')], [true, true, true]);
    assert.deepEqual(
      [unknown(403), unknown(412), unknown(429), unknown(409, 'last_key')],
      [false, false, false, false],
    );
  });

  it('end when the reader leaves, without a refusal', async () => {
    const leaving = new AbortController();
    const fetch = async () => {
      leaving.abort();
      throw new DOMException('left', 'AbortError');
    };
    const api = createApi(LIVE, { signal: leaving.signal, fetch });
    await assert.rejects(api.get('/limits'), { name: 'AbortError' });
  });
});

it('spans of limits are words', () => {
  assert.deepEqual([1, 60, 90, 3600, 7200, 86_400].map(figures.spanText), [
    'second',
    'minute',
    '90 seconds',
    'hour',
    '2 hours',
    'day',
  ]);
  assert.equal(figures.dayText(Math.floor(NOW_MS / DAY_MS) * DAY_MS), '26 Nov');
});
