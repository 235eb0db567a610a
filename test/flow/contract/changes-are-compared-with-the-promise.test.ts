// `contract diff` without documents compares what the configuration serves with what was published. It says who has called what breaks, and
// the ways on.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, beforeEach, describe, it } from 'node:test';
import { openUsageStore } from '../../../gateway/usage/usage.ts';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { thingsContract } from '../../support/things.ts';
import { START_MS } from '../../unit/auth/samples.ts';
import { commandLine } from '../commands/command-line.ts';

const DAY_MS = 86_400_000;
const upstream = { contracts: ['things.json'], live: 'http://127.0.0.1:9' };

let directory: string;
let shell: ReturnType<typeof commandLine>;
const diff = (...words: string[]) => shell.run('contract', 'diff', ...words);

type Contract = { paths: Record<string, Record<string, object>> };

function serve(change: (contract: Contract) => void, breaking: readonly object[] = []): void {
  const contract = thingsContract() as Contract;
  change(contract);
  writeConfiguration(directory, {
    gateway: { publishedContracts: 'published' },
    upstreams: { things: upstream },
    contracts: { 'things.json': contract },
  });
  writeFileSync(
    join(directory, 'config/upstreams.yaml'),
    JSON.stringify({ upstreams: { things: upstream }, breaking }),
  );
}

function withoutOrders({ paths }: Contract): void {
  delete paths['/v1/orders'];
}

/** Requests of an organization to an operation, counted on a day before today. */
async function counted(organization: string, operation: string, requests: number, daysAgo: number): Promise<void> {
  const store = await openUsageStore({
    redisUrl: undefined,
    dataDirectory: join(directory, 'data'),
    keepDays: () => 400,
    now: () => START_MS,
  });
  const dayMs = Math.floor(START_MS / DAY_MS - daysAgo) * DAY_MS;
  const entries = [{ operation, key: 'key_1', statusClass: 2 as const, hourMs: dayMs, requests }];
  await store.add(`${organization} ${daysAgo}`, [{ number: 1, organization, dayMs, entries }]);
  await store.close();
}

describe('contract diff without documents', () => {
  before(async () => {
    directory = temporaryDirectory();
    shell = commandLine(join(directory, 'data'), { ...environmentOf(directory) });
    serve(() => undefined);
    const first = await diff();
    assert.deepEqual([first.code, first.out.trim().split('\n').length], [1, 1], first.out);
    assert.match(first.err, /published contracts does not exist\. Run "gateway contract publish"/);
    assert.equal((await shell.run('contract', 'publish')).code, 0);
    for (const id of ['org_a', 'org_b', 'org_c', 'org_d'])
      await shell.json('orgs', 'create', '--id', id, '--name', id, '--tier', 'standard');
  });
  beforeEach(() => serve(() => undefined));

  it('finds no change', async () => {
    assert.deepEqual(await diff(), { code: 0, out: 'Everything is as it was promised.\n', err: '' });
  });

  it('lists additions, and names the next command', async () => {
    serve(({ paths }) => {
      paths['/v1/more'] = { get: { ...paths['/v1/things']?.get, operationId: 'listMore' } };
    });
    const { code, out } = await diff();
    assert.equal(code, 0);
    const [head, ...lines] = out.trimEnd().split('\n');
    assert.match(head ?? '', /^v1, since it was promised on \d{4}-\d\d-\d\d:$/);
    assert.deepEqual(lines, [
      '  additive: GET /v1/more: the operation is new.',
      'No client breaks: 0 breaking changes, 1 additive change. "bin/gateway contract publish" promises what is new.',
    ]);
  });

  it('check says how much is not published yet', async () => {
    assert.doesNotMatch((await shell.run('check')).out, /not published yet/);
    serve(({ paths }) => {
      paths['/v1/more'] = { get: { ...paths['/v1/things']?.get, operationId: 'listMore' } };
    });
    assert.match(
      (await shell.run('check')).out,
      /^not published yet: v1: 0 breaking changes, 1 additive change\. "gateway contract diff" lists them\.$/m,
    );
    const { changed_since_published } = (await shell.json('check')) as unknown as Record<string, unknown>;
    assert.deepEqual(changed_since_published, [{ contract: 'v1', breaking: 0, additive: 1 }]);
  });

  it('says of a break who has called it, and gives the decision to paste', async () => {
    serve(withoutOrders);
    assert.match(
      (await diff()).out,
      /POST \/v1\/orders: the operation was removed\.\n {12}not called in the last 30 days\n/,
    );
    for (const [organization, requests] of [
      ['org_a', 2],
      ['org_b', 30],
      ['org_c', 1],
      ['org_d', 1],
    ] as const)
      await counted(organization, 'placeOrder', requests, 2);
    await counted('org_a', 'placeOrder', 500, 40);
    await counted('org_a', 'listThings', 7, 2);
    const { code, out, err } = await diff();
    assert.deepEqual([code, err], [1, '']);
    assert.match(out, /removed\.\n {12}34 requests in the last 30 days, of org_b, org_a, org_c and 1 more\n/);
    assert.match(out, /^Clients would break: 1 breaking change, 0 additive changes\.$/m);
    const pasted = /^breaking:\n(?: {2}- .*\n)+/m.exec(out)?.[0] ?? '';
    const file = join(directory, 'config/upstreams.yaml');
    const decided = `${readFileSync(file, 'utf8').replace(/"breaking":\[\],?|,?"breaking":\[\]/, '')}\n`;
    writeFileSync(
      file,
      `upstreams: ${JSON.stringify(JSON.parse(decided).upstreams)}\n${pasted.replace(/"Write[^"]*"/, '"No client is left."')}`,
    );
    const after = await diff();
    assert.equal(after.code, 0, after.out);
    assert.match(after.out, /34 requests [^\n]*\n {12}decided: No client is left\.\n/);
    assert.match(after.out, /^All breaks are decided: 1 breaking change, 0 additive changes\./m);
    assert.equal((await shell.run('check')).code, 0);
  });

  it('says nothing of callers where there are no counts, as in CI', async () => {
    serve(withoutOrders);
    const elsewhere = commandLine(temporaryDirectory(), { ...environmentOf(directory) });
    const { code, out } = await elsewhere.run('contract', 'diff');
    assert.equal(code, 1);
    assert.match(out, /POST \/v1\/orders: the operation was removed\.\nClients would break/);
  });

  it('no longer counts a decision that has ended', async () => {
    const past = {
      operation: 'placeOrder',
      rule: 'operation-removed',
      until: '2001-01-01',
      reason: 'No client is left.',
    };
    serve(withoutOrders, [past]);
    assert.equal((await diff()).code, 1);
    const { breaking, contracts } = JSON.parse((await diff('--json')).out);
    assert.equal(breaking, 1);
    assert.deepEqual(contracts[0].changes[0], {
      ...{ level: 'breaking', rule: 'operation-removed', text: 'the operation was removed', decided: null },
      operations: [
        { id: 'placeOrder', at: 'POST /v1/orders', requests: 34, organizations: ['org_b', 'org_a', 'org_c', 'org_d'] },
      ],
    });
  });

  it('takes both sides or none', async () => {
    assert.deepEqual(await diff('openapi'), { code: 2, out: '', err: 'Name both sides, or none of them.' });
  });
});
