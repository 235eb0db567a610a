// With --server, commands do at a gateway elsewhere what they do on their machine: the same output, the same exit codes, the rights of a
// key.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAdministration } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { mistyped } from '../../support/mistyped.ts';
import { PEPPER, until } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

const start = closesAfterAll();
const dataDirectory = temporaryDirectory();
const { gateway, administer } = await start(
  startAdministration({ dataDirectory, environment: { KEY_PEPPER: PEPPER } }),
);

const OPERATOR = [
  'gateway:organizations:read',
  'gateway:organizations:write',
  'gateway:keys:read',
  'gateway:keys:write',
  'gateway:usage:read',
  'gateway:limits:read',
  'gateway:limits:write',
  'gateway:audit:read',
  'gateway:deprecations:read',
  'gateway:upstreams:read',
  'gateway:upstreams:write',
  'gateway:alerts:read',
  'gateway:alerts:write',
  // What an operator grants it has to hold.
  'gateway:read',
  'gateway:keys',
  '*',
];

const { key: operatorKey } = await gateway.issueKey({ organization: 'org_staff', operator: true, scopes: OPERATOR });

/** At the gateway, with a key. The data directory is another one: nothing may come from there. */
function lineWith(key: string) {
  const line = commandLine(undefined, { GATEWAY_SERVER: gateway.url, GATEWAY_KEY: key });
  line.clock.now = Date.now;
  return line;
}

/** On the machine of the gateway. */
const here = commandLine(dataDirectory, { ADMIN_PORT: String(gateway.app.adminPort) });
here.clock.now = Date.now;
const operator = lineWith(operatorKey);

async function organizationWith(scopes: readonly string[]) {
  const organization = `org_${Math.random().toString(36).slice(2)}`;
  const { key, id } = await gateway.issueKey({ organization, scopes });
  return { organization, key, id, ...lineWith(key) };
}

describe('organizations', () => {
  it('are created, listed and changed with the same output as on the machine', async () => {
    const created = await operator.run('orgs', 'create', '--id', 'org_far', '--name', 'Far', '--tier', 'standard');
    assert.deepEqual(created, {
      code: 0,
      out: 'Created the organization org_far ("Far") on tier standard.\n',
      err: '',
    });
    const [far, near] = await Promise.all([operator.run('orgs', 'list'), here.run('orgs', 'list')]);
    assert.deepEqual(far, near);
    assert.deepEqual(await operator.json('orgs', 'list'), await here.json('orgs', 'list'));

    const suspended = await operator.run('orgs', 'suspend', 'org_far', '--wait');
    assert.equal(suspended.code, 0, suspended.err);
    assert.match(
      suspended.out,
      /^The organization org_far is suspended, on tier standard\.\nConfirmed by 1 running gateway/,
    );
    const resumed = await operator.json('orgs', 'resume', 'org_far', '--wait');
    assert.deepEqual(resumed.state, 'active');
    assert.deepEqual([resumed.in_force.confirmed, resumed.in_force.unconfirmed], [1, 0]);
    assert.deepEqual(await operator.json('orgs', 'set-tier', 'org_far', 'standard'), {
      id: 'org_far',
      name: 'Far',
      tier: 'standard',
      state: 'active',
      operator: false,
      contacts: [],
    });
  });

  it('that exist already, do not exist or have no tier are refused with the request id', async () => {
    await operator.run('orgs', 'create', '--id', 'org_twice', '--name', 'Twice', '--tier', 'standard');
    const cases: readonly (readonly [words: readonly string[], says: RegExp])[] = [
      [
        ['orgs', 'create', '--id', 'org_twice', '--name', 'Twice', '--tier', 'standard'],
        /^The organization org_twice exists already \(409 already_exists, request req_\w+\)\.$/,
      ],
      [
        ['orgs', 'suspend', 'org_none'],
        /^There is no organization org_none \(404 resource_missing, request req_\w+\)\.$/,
      ],
      [
        ['orgs', 'set-tier', 'org_twice', 'gold'],
        /^http:\S+ refuses it \(422 reference_missing, request req_\w+\): .*tier/,
      ],
      [['keys', 'list', '--org', 'org_none'], /^There is no organization org_none \(404 resource_missing/],
      [
        ['keys', 'revoke', 'key_none', '--org', 'org_twice'],
        /^There is no key key_none in org_twice \(404 resource_missing, request req_\w+\)\.$/,
      ],
    ];
    for (const [words, says] of cases) {
      const { code, out, err } = await operator.run(...words);
      assert.deepEqual([code, out], [1, ''], words.join(' '));
      assert.match(err, says);
    }
  });

  it('come in parts', async () => {
    for (const letter of ['a', 'b', 'c'])
      await operator.run('orgs', 'create', '--id', `org_0${letter}`, '--name', letter, '--tier', 'standard');
    const first = await operator.run('orgs', 'list', '--limit', '2');
    assert.match(first.out, /^There are more: gateway orgs list --limit 2 --after org_0b$/m);
    const [next] = await operator.json('orgs', 'list', '--limit', '1', '--after', 'org_0b');
    assert.equal(next.id, 'org_0c');
  });
});

describe('keys', () => {
  it('of an organization are made, used, rotated and revoked with its own key', async () => {
    const own = await organizationWith(['gateway:read', 'gateway:keys']);
    const made = await own.json('keys', 'create', '--mode', 'live', '--scopes', 'gateway:read', '--name', 'Far');
    assert.match(made.key, /^sk_live_/);
    assert.deepEqual([made.organization, made.name, made.created_by], [own.organization, 'Far', own.id]);
    assert.equal((await administer('GET /gateway/v1/organization', { key: made.key })).status, 200);

    const wider = await own.json('keys', 'scopes', made.id, '--add', 'gateway:keys');
    assert.deepEqual(wider.scopes, ['gateway:read', 'gateway:keys']);

    const { out } = await own.run('keys', 'rotate', made.id, '--overlap', '0s', '--wait');
    const [secret = ''] = out.split('\n');
    assert.match(secret, /^sk_live_/);
    assert.match(out, /This is the only time the key is shown/);
    assert.match(
      out,
      /running gateways refuse it within a second; key_\w+ works from now on\.\nConfirmed by 1 running/,
    );
    assert.equal((await administer('GET /gateway/v1/organization', { key: made.key })).status, 401);
    assert.equal((await administer('GET /gateway/v1/organization', { key: secret })).status, 200);

    const [, , successor] = await own.json('keys', 'list');
    const revoked = await own.run('keys', 'revoke', successor.id, '--reason', 'found', '--wait');
    assert.match(revoked.out, new RegExp(`^The key ${successor.id} is revoked since \\S+\\.\nConfirmed by 1 running`));
    assert.equal((await administer('GET /gateway/v1/organization', { key: secret })).status, 401);

    assert.deepEqual(await own.json('keys', 'list'), await here.json('keys', 'list', '--org', own.organization));
    assert.deepEqual(await own.run('keys', 'list'), await here.run('keys', 'list', '--org', own.organization));
    const [far, near] = [await own.json('keys', 'list', '--last-four', secret), [successor.id]];
    assert.deepEqual(
      far.map(({ id }: { id: string }) => id),
      near,
    );
    assert.deepEqual((await own.json('keys', 'list', '--after', made.id)).length, 1);
  });

  it('that two commands change at once lose the scopes that the first has removed', async () => {
    const scopes = ['gateway:read', 'gateway:keys'];
    const own = await organizationWith(scopes);
    const { id } = await own.json('keys', 'create', '--mode', 'live', '--scopes', scopes.join(','), '--name', 'Far');
    const taking = await Promise.all(scopes.map((scope) => own.run('keys', 'scopes', id, '--remove', scope)));
    const refused = taking.filter(({ code }) => code !== 0);
    assert.equal(refused.length, 1, JSON.stringify(taking));
    // One that reads the key after the other has changed it would leave it no scope.
    assert.match(refused[0]?.err ?? '', /has been changed meanwhile: run the command again \(412 | refuses it \(400 /);
    const left = scopes.filter((_, index) => taking[index]?.code !== 0);
    const keys = (await own.json('keys', 'list')) as { id: string; scopes: string[] }[];
    assert.deepEqual(keys.find((key) => key.id === id)?.scopes, left);
  });

  it('of any organization are for operators, who name it', async () => {
    const { organization, id } = await organizationWith(['gateway:read']);
    const made = await operator.json('keys', 'create', '--org', organization, '--mode', 'test', '--scopes', '*');
    assert.deepEqual([made.organization, made.mode], [organization, 'test']);
    const unnamed = await operator.run('keys', 'revoke', made.id);
    assert.equal(unnamed.code, 1);
    assert.match(unnamed.err, /in the organization of your key; operators name its organization with --org \(404/);
    assert.equal((await operator.run('keys', 'rotate', made.id, '--org', organization)).code, 0);
    assert.equal((await operator.json('keys', 'revoke', made.id, '--org', organization)).state, 'revoked');

    const last = await operator.run('keys', 'revoke', id, '--org', organization);
    assert.equal(last.code, 1);
    assert.match(last.err, /\(409 last_key, request req_\w+\): .* To revoke it all the same, add --allow-last\.$/);
    assert.equal((await operator.run('keys', 'revoke', id, '--org', organization, '--allow-last')).code, 0);
  });

  it('grant nothing that the acting key does not hold', async () => {
    const { run } = await organizationWith(['gateway:read', 'gateway:keys']);
    const { code, out, err } = await run('keys', 'create', '--mode', 'live', '--scopes', 'customers:read');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /refuses it \(4\d\d \w+, request req_\w+\)/);
  });

  it('that may not act are told why', async () => {
    const { run: reading } = await organizationWith(['gateway:read']);
    const lacking = await reading('orgs', 'list');
    assert.deepEqual([lacking.code, lacking.out], [1, '']);
    assert.match(
      lacking.err,
      /\(403 insufficient_scope, request req_\w+\): .* Use a key that has gateway:organizations:read/,
    );

    const { key: test } = await gateway.issueKey({ organization: 'org_test', mode: 'test', scopes: ['gateway:read'] });
    assert.match(
      (await lineWith(test).run('keys', 'list')).err,
      /\(403 key_mode_mismatch, request req_\w+\): .* Use a live key/,
    );
    const wrong = await lineWith(mistyped(test)).run('keys', 'list');
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /\(401 \w+, request req_\w+\): .* Look at the key in GATEWAY_KEY or --key-file\.$/);
    assert.doesNotMatch(wrong.err, new RegExp(test.slice(12, 30)));
  });
});

describe('use', () => {
  it('is shown of the own organization, and of any to operators', async () => {
    const { organization, run, json, key } = await organizationWith(['gateway:read']);
    for (let count = 0; count < 3; count += 1) await administer('GET /gateway/v1/organization', { key });
    const requests = async () => {
      await sleep(100);
      const { data } = await json('usage', '--by', 'day', '--group', 'operation');
      const own = data.find(({ operation_id: id }: { operation_id: string }) => id === 'getOrganization');
      return own?.requests === 3;
    };
    await until(requests);
    const { out } = await run('usage', '--group', 'operation');
    assert.match(out, /^FROM +OPERATION +REQUESTS\n/);
    assert.match(out, /^\d{4}-\d\d-\d\d +getOrganization +3$/m);
    assert.match(out, /^Complete until .*Z\.$/m);
    assert.deepEqual((await operator.json('usage', '--org', organization)).data.length, 1);
    assert.match((await operator.run('usage', '--org', 'org_none')).err, /^There is no organization org_none \(404/);
  });
});

describe('what the gateway knows', () => {
  it('of limits: shown of the own organization, and shown and reset by operators', async () => {
    const { organization, run, json, key } = await organizationWith(['gateway:read']);
    await administer('GET /gateway/v1/organization', { key });
    const report = await json('limits', 'show');
    assert.deepEqual([report.organization, report.tier], [organization, 'standard']);
    const [limit] = report.limits;
    assert.deepEqual(
      [limit.policy, limit.key_id, limit.operations, limit.enforced],
      ['organization', null, null, true],
    );
    assert.ok(limit.used >= 2);
    assert.match(
      (await run('limits', 'show')).out,
      /^\S+, tier standard\n\nPOLICY +RULE .*\norganization +- +- +all +\d+ in/,
    );

    const reset = await operator.run('limits', 'reset', '--org', organization);
    assert.deepEqual(reset, {
      code: 0,
      out: `Reset the counters of ${organization}: all its limits are unused again.\n`,
      err: '',
    });
    const after = await operator.json('limits', 'show', '--org', organization);
    assert.equal(after.limits[0].used, 0);
    const none = await operator.run('limits', 'reset', '--org', 'org_none');
    assert.deepEqual(none.code, 1);
    assert.match(none.err, /^There is no organization org_none \(404 resource_missing, request req_\w+\)\.$/);
  });

  it('of a request: explained to its organization, and to no other', async () => {
    const { run, json, key } = await organizationWith(['gateway:read']);
    const refused = await administer('GET /gateway/v1/keys?limit=1000', { key });
    const id = String(refused.headers.get('x-request-id'));
    const { code, out, err } = await run('explain', id);
    assert.deepEqual([code, err], [0, '']);
    assert.match(
      out,
      new RegExp(`^${id}, \\S+Z\nGET /gateway/v1/keys was refused by validate with 400 validation_failed`),
    );
    assert.match(out, /^validate +refused +/m);
    const { exchanges } = await json('explain', id);
    assert.deepEqual([exchanges.length, exchanges[0].request_id], [1, id]);
    assert.equal(exchanges[0].stages.find(({ stage }: { stage: string }) => stage === 'validate').outcome, 'refused');

    const other = await (await organizationWith(['gateway:read'])).run('explain', id);
    assert.deepEqual([other.code, other.out], [1, '']);
    assert.match(other.err, new RegExp(`does not remember a request ${id} of the organization of your key \\(404`));
  });

  it('of changes: the audit log for operators, what concerns it for an organization', async () => {
    const own = await organizationWith(['gateway:read', 'gateway:keys']);
    const { id } = await own.json('keys', 'create', '--mode', 'live', '--scopes', 'gateway:read');
    await own.json('keys', 'revoke', id, '--reason', 'found');
    const all = await operator.json('audit', '--org', own.organization);
    assert.deepEqual(all, withoutAuthorsOrganization(await here.json('audit', '--org', own.organization)));
    const { out } = await operator.run('audit', '--org', own.organization, '--limit', '1');
    assert.match(
      out,
      new RegExp(`^AT .*\\n\\S+Z +${own.id} +key\\.revoked +${own.organization} +${id} +reason="found"`),
    );
    const events = await own.json('audit', '--limit', '2');
    assert.deepEqual(
      events.map(({ kind, by, key, organization }: Record<string, unknown>) => [kind, by, key, organization]),
      [
        ['key.revoked', own.id, id, null],
        ['key.created', own.id, id, null],
      ],
    );
    assert.deepEqual(await own.json('audit', '--since', '2000-01-01', '--limit', '1'), events.slice(0, 1));
    const foreign = await own.run('audit', '--org', 'org_staff');
    assert.deepEqual([foreign.code, foreign.out], [1, '']);
    assert.match(foreign.err, /403 insufficient_scope/);
  });

  it('of upstreams: a refused credential is sent again', async () => {
    assert.deepEqual(await operator.run('upstreams', 'retry', 'gateway'), {
      code: 0,
      out: 'gateway has refused no credential; nothing is changed.\n',
      err: '',
    });
    assert.deepEqual(await operator.json('upstreams', 'retry', 'gateway'), { upstream: 'gateway', retried: false });
    const { code, err } = await operator.run('upstreams', 'retry', 'nothing');
    assert.equal(code, 1);
    assert.match(err, /^There is no upstream nothing \(404 resource_missing, request req_\w+\)\.$/);
  });

  it('of alerts: causes, receivers and silences, which operators begin and end', async () => {
    const { code, out, err } = await operator.run(
      'alerts',
      'silence',
      'upstream *',
      '--for',
      '2h',
      '--reason',
      'moves',
    );
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^Alerts about upstream \* are silent until 20\S+Z\.\n$/);
    const report = await operator.json('alerts', 'list');
    assert.deepEqual(
      report.silences.map(({ causes, reason }: Record<string, string>) => [causes, reason]),
      [['upstream *', 'moves']],
    );
    assert.deepEqual(report, await here.json('alerts', 'list'));
    assert.deepEqual(await operator.run('alerts', 'list'), await here.run('alerts', 'list'));
    assert.deepEqual(await operator.json('alerts', 'silence', 'upstream *', '--end'), {
      causes: 'upstream *',
      until: null,
    });
    for (const words of [
      ['upstraem', '--for', '2h'],
      ['redis', '--for', '10s'],
    ])
      assert.deepEqual(
        await operator.run('alerts', 'silence', ...words),
        await here.run('alerts', 'silence', ...words),
      );
    const { run } = await organizationWith(['gateway:read']);
    assert.match((await run('alerts', 'list')).err, /403 insufficient_scope.* Use a key that has gateway:alerts:read/);
  });

  it('of its state: what needs attention, and its upstreams', async () => {
    const { code, out } = await operator.run('status');
    assert.equal(code, 0);
    assert.match(out, /^Nothing needs attention\.\n\nUPSTREAM +TARGETS .*\ngateway +gateway: \(live\) healthy/);
    const [far, near] = [await operator.json('status'), await here.json('status')];
    assert.deepEqual([far.causes, Object.keys(far.upstreams)], [near.causes, Object.keys(near.upstreams)]);
  });

  it('of deprecated operations: who calls them', async () => {
    const { code, out, err } = await operator.run('versions', 'usage');
    assert.deepEqual([code, out, err], [0, 'None.\n', '']);
    assert.deepEqual(await operator.json('versions', 'usage'), []);
  });
});

/** The contract does not tell it beside the author. */
function withoutAuthorsOrganization(changes: readonly { readonly details: Readonly<Record<string, unknown>> }[]) {
  return changes.map(({ details: { by_organization: _, ...details }, ...change }) => ({ ...change, details }));
}
