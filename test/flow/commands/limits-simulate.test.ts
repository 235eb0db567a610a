import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { thingsAt } from '../../support/things.ts';
import { exchange } from '../../unit/commands/limits/logged-requests.ts';
import { START_MS } from '../../unit/limits/scenarios.ts';
import { simulateLine, toLog } from './simulate-line.ts';

const limits = {
  tiers: { standard: { requests: 10 }, premium: { requests: 100 } },
  extra: { writes: { requests: 4, enforce: false } },
  operations: { createThing: { extra: 'writes' } },
};
const lower = { ...limits, tiers: { standard: { requests: 4 }, premium: { requests: 100 } } };

function simulation() {
  const configured = temporaryDirectory();
  writeConfiguration(configured, { ...thingsAt('http://127.0.0.1:1'), limits });
  const line = simulateLine(configured);
  /** The result of simulating a log under lower limits, as JSON. */
  const simulate = (...logs: string[]) =>
    line.json('limits', 'simulate', '--limits', line.candidate(lower), '--log', ...logs);
  return { ...line, simulate };
}

/** So many exchanges of an organization, a second apart. */
function exchanges(count: number, members: Record<string, unknown> = {}, fromMs = START_MS): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, index) => {
    const atMs = fromMs + index * 1000;
    return exchange({ time: atMs + 5, duration_ms: 4.5, decided_at: atMs, ...members });
  });
}

const small = [
  ...exchanges(6, { organization: 'org_a' }),
  ...exchanges(1, { organization: 'org_a', stage: 'limit', status: 429, code: 'rate_limited' }, START_MS + 10_000),
  ...exchanges(3, { organization: 'org_b' }, START_MS + 60_000),
  ...exchanges(6, { organization: 'org_c', tier: 'premium', operation: 'createThing' }, START_MS + 60_000),
];

test('a small log under lower limits: which organizations are refused how often, now and then, and the worst minute', async () => {
  const { simulate, log } = simulation();
  const path = log(small);
  const { candidate, organizations, ...rest } = await simulate(path);
  assert.match(candidate, /candidate\.yaml$/);
  const none = { refused: 0, shadow_refused: 0, worst_minute: null };
  const shadow = { ...none, shadow_refused: 2 };
  const worst = { ...none, refused: 3, worst_minute: { at: '2026-11-20T16:00:00.000Z', refused: 3 } };
  const a = { requests: 7, recorded: { refused: 1 }, present: none, candidate: worst, difference: 3 };
  const b = { requests: 3, recorded: { refused: 0 }, present: none, candidate: none, difference: 0 };
  const c = { requests: 6, recorded: { refused: 0 }, present: shadow, candidate: shadow, difference: 0 };
  assert.deepEqual(organizations, [
    { organization: 'org_a', tier: 'standard', newly_refused: true, ...a },
    { organization: 'org_b', tier: 'standard', newly_refused: false, ...b },
    { organization: 'org_c', tier: 'premium', newly_refused: false, ...c },
  ]);
  assert.deepEqual(rest, {
    logs: [path],
    lines: { read: 16, unused: { unreadable: 0, other: 0, before_limits: 0 }, late: 0 },
    from: '2026-11-20T16:00:00.000Z',
    to: '2026-11-20T16:01:05.000Z',
    unknown_operations: {},
    total: { ...a, requests: 16, present: shadow, candidate: { ...worst, shadow_refused: 2 } },
    tiers: [
      { tier: 'standard', ...a, requests: 10 },
      { tier: 'premium', ...c },
    ],
    limits: [
      { limit: 'organization', present: 0, candidate: 3 },
      { limit: 'writes', present: 2, candidate: 2 },
    ],
  });
});

test('people see the affected organizations, by how much, and the totals', async () => {
  const { run, log, candidate } = simulation();
  const path = log([...small, ...exchanges(2, { operation: 'gone' }, START_MS + 70_000), exchange({ stage: 'match' })]);
  const { code, out, err } = await run('limits', 'simulate', '--limits', candidate(lower), '--log', path);
  assert.deepEqual([code, err], [0, '']);
  assert.equal(
    out.replace(/under .*candidate.yaml/, 'under candidate.yaml'),
    `Replayed 18 requests of 3 organizations, 2026-11-20T16:00:00Z to 2026-11-20T16:01:11Z.
Not used: 1 line (1 of requests that ended before the limits, 0 about other things, 0 not written by a gateway).
In no contract, and therefore replayed with cost 1 and no extra limit: gone.

Refused more often under candidate.yaml:
ORGANIZATION  TIER      REQUESTS  RECORDED  PRESENT  CANDIDATE  DIFFERENCE  SHADOW  WORST MINUTE
org_a         standard  9         1         0        3          +3          0       2026-11-20T16:00:00Z (3)
Of them, 1 would be refused requests for the first time.

TIER      REQUESTS  RECORDED  PRESENT  CANDIDATE  DIFFERENCE  SHADOW  WORST MINUTE
standard  12        1         0        3          +3          0       2026-11-20T16:00:00Z (3)
premium   6         0         0        0          0           2       -
all       18        1         0        3          +3          2       2026-11-20T16:00:00Z (3)

Requests that did not fit, by limit, enforced or not:
LIMIT         PRESENT  CANDIDATE
organization  0        3
writes        2        2
`,
  );
});

test('of many organizations people see the twenty that are hit most', async () => {
  const { run, log, candidate } = simulation();
  const many = Array.from({ length: 30 }, (_, index) => exchanges(4 + index, { organization: `org_${index}` })).flat();
  const { out } = await run('limits', 'simulate', '--limits', candidate(lower), '--log', log(many));
  const shown = [...out.matchAll(/^(org_\d+) .*\+(\d+) /gm)].map(([, id, difference]) => [id, Number(difference)]);
  assert.equal(shown.length, 20);
  assert.ok(shown.every(([, difference], index) => Number(difference) >= Number(shown[index + 1]?.[1] ?? 0)));
  assert.match(out, /^… and 9 more; --json names them all\.$/m);
});

test('logs of several instances are replayed as one, in any order, plain, gzipped or from standard input', async () => {
  const { simulate, log, written, runWith, candidate } = simulation();
  // Long enough to be read in many pieces: one instance logs ten times as much as the other.
  const ids = (count: number, instance: string) =>
    Array.from({ length: count }, (_, index) => ({ organization: `org_${index % 40}`, request_id: instance }));
  const busy = ids(4000, 'x'.repeat(200)).map((one, index) => ({ ...exchanges(1, one, START_MS + index * 50)[0] }));
  const calm = ids(400, 'y').map((one, index) => ({ ...exchanges(1, one, START_MS + index * 500)[0] }));
  const together = [...busy, ...calm].toSorted((one, other) => Number(one.decided_at) - Number(other.decided_at));
  const { organizations: expected, total } = await simulate(log(together, 'together.ndjson'));
  assert.ok(total.difference > 100, `${total.difference}`);

  const byId = (list: { organization: string }[]) =>
    list.toSorted((a, b) => a.organization.localeCompare(b.organization));
  const plain = [log(busy, 'busy.ndjson'), log(calm, 'calm.ndjson')] as const;
  for (const logs of [plain, plain.toReversed(), [plain[0], written('calm.gz', gzipSync(toLog(calm)))]]) {
    const { organizations, lines } = await simulate(...logs);
    assert.deepEqual(byId(organizations), byId(expected));
    assert.equal(lines.late, 0);
  }
  const words = ['limits', 'simulate', '--limits', candidate(lower), '--log', '-', '--json'];
  const { out } = await runWith({ input: [toLog(together).slice(0, 999), toLog(together).slice(999)] }, ...words);
  assert.deepEqual(byId(JSON.parse(out).organizations), byId(expected));
});

test('lines that record no counted request are passed over and counted, however long, cut off or broken they are', async () => {
  const { simulate, written } = simulation();
  const good = toLog(exchanges(1));
  const lines = [
    good,
    'npm start\n\n',
    '{"level":30,"time":1,"msg":"listening"}\n',
    `${'x'.repeat(3_000_000)}\n`,
    `${JSON.stringify({ ...exchange(), cause: 'y'.repeat(3_000_000) })}\n`,
    toLog([exchange({ stage: 'authenticate', status: 401 })]),
    toLog([exchange({ decided_at: 'yesterday' })]),
    good,
    good.slice(0, 100),
  ];
  const { lines: found, total } = await simulate(written('broken.ndjson', lines.join('')));
  assert.deepEqual(found, { read: 10, unused: { unreadable: 6, other: 1, before_limits: 1 }, late: 0 });
  assert.equal(total.requests, 2);
});

for (const [what, content] of [
  ['an empty log', ''],
  ['a log of something else', '10.0.0.1 - - [20/Nov/2026] "GET / HTTP/1.1" 200\n'],
] as const) {
  test(`${what} contains no limits, so it is a problem`, async () => {
    const { run, written, candidate } = simulation();
    const path = written('access.ndjson', content);
    const { code, out, err } = await run('limits', 'simulate', '--limits', candidate(lower), '--log', path, '--json');
    assert.deepEqual([code, out], [1, '']);
    const lines = content === '' ? '0 lines' : '1 line';
    assert.equal(err, `No request that limits have counted is in ${path} (${lines} read).`);
  });
}

test('every mistake of the candidate is reported with its place, and nothing is simulated', async () => {
  const { run, log, written } = simulation();
  const candidate = written(
    'candidate.yaml',
    'tiers:\n  standard: { requests: 0 }\n  premium: { request: 9 }\noperations:\n  createThing: { extra: wirtes }\n',
  );
  const shape = await run('limits', 'simulate', '--limits', candidate, '--log', log(small));
  assert.deepEqual([shape.code, shape.out], [1, '']);
  const told = shape.err.replaceAll(candidate, 'candidate.yaml').split('\n');
  assert.match(told[0] ?? '', /^candidate\.yaml:2:25: tiers\.standard\.requests: 0 is not possible here\./);
  assert.ok(
    told.some((one) => /^candidate\.yaml:3:14: .*"request" is not known here\. Did you mean/.test(one)),
    shape.err,
  );
  assert.match(shape.err, /\d mistakes in the configuration; nothing was simulated\.$/);
});

test('names that the candidate lacks or that nothing else has are mistakes, as at the start of a gateway', async () => {
  const { run, log, written } = simulation();
  const candidate = written(
    'candidate.yaml',
    'tiers:\n  standard: { requests: 5 }\noperations:\n  createThing: { extra: writes }\n',
  );
  const first = await run('limits', 'simulate', '--limits', candidate, '--log', log(small));
  assert.equal(first.code, 1);
  assert.match(first.err, /candidate\.yaml:4:25: operations\.createThing\.extra: there is no limit "writes"/);
  written('candidate.yaml', 'tiers:\n  standard: { requests: 5 }\noperations:\n  createThink: { cost: 2 }\n');
  const second = await run('limits', 'simulate', '--limits', candidate, '--log', log(small));
  assert.match(
    second.err,
    /candidate\.yaml:4:3: .*no contract has an operation "createThink"\. Did you mean "createThing"/,
  );
});

test('files that cannot be read are named', async () => {
  const { run, log, candidate, directory, written } = simulation();
  const simulate = (limitsPath: string, ...logs: string[]) =>
    run('limits', 'simulate', '--limits', limitsPath, '--log', ...logs);
  const none = join(directory, 'none');
  assert.match((await simulate(none, log(small))).err, /none: the file does not exist\./);
  const absent = await simulate(candidate(lower), none);
  assert.deepEqual([absent.code, absent.err], [1, `The log ${none} cannot be read (ENOENT).`]);
  assert.equal((await simulate(candidate(lower), directory)).err, `${directory} is a directory.`);
  const cut = written('cut.gz', gzipSync(toLog(small)).subarray(0, -20));
  assert.equal((await simulate(candidate(lower), cut)).err, `The log ${cut} cannot be read to its end (Z_BUF_ERROR).`);
});

test('without a candidate, without a log or with one log twice it was called wrongly', async () => {
  const { run, log, candidate } = simulation();
  const path = log(small);
  assert.equal((await run('limits', 'simulate', '--log', path)).code, 2);
  assert.equal((await run('limits', 'simulate', '--limits', candidate(lower))).code, 2);
  const twice = await run('limits', 'simulate', '--limits', candidate(lower), '--log', path, '--log', path);
  assert.deepEqual([twice.code, twice.err], [2, 'A log is named twice; its requests would count twice.']);
});

test('a long replay reports its progress on standard error', async () => {
  const { run, log, candidate, clock } = simulation();
  clock.stepMs = 6000;
  const path = log(exchanges(2000, { request_id: 'x'.repeat(100) }));
  const { out, err } = await run('limits', 'simulate', '--limits', candidate(lower), '--log', path);
  assert.match(err, /^replaying: \d+ records, \d+ %, \d+\/s\n/);
  assert.match(out, /^Replayed 2000 requests of 1 organization,/);
});

test('the entry point replays under the configuration of its environment', async () => {
  const { log, written } = simulation();
  const path = log(exchanges(20, { operation: 'createJob' }));
  const candidate = written(
    'candidate.yaml',
    'tiers: { standard: { requests: 7 } }\nextra: { job-creation: { requests: 30 }, administration: { requests: 60 } }\n',
  );
  const words = ['limits', 'simulate', '--limits', candidate, '--log', path, '--json'];
  const { PATH = '', HOME = '' } = process.env;
  const gateway = fileURLToPath(new URL('../../../bin/gateway', import.meta.url));
  const { stdout } = await promisify(execFile)(gateway, words, { env: { PATH, HOME }, timeout: 30_000 });
  const { total, unknown_operations } = JSON.parse(stdout);
  assert.deepEqual([total.present.refused, total.candidate.refused, unknown_operations], [0, 13, {}]);
});
