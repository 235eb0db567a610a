// `gateway explain --request` predicts the outcome of a request: with the real stages on the real files and stores, spending nothing.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { organization, PEPPER } from '../../unit/auth/samples.ts';
import { explainer } from './explained.ts';

interface Told {
  readonly would: string;
  readonly verdict: string;
  readonly stages: readonly { readonly stage: string; readonly outcome: string; readonly told: readonly string[] }[];
  readonly error: Record<string, unknown> | null;
  readonly counters: readonly { readonly policy: string; readonly remaining: number; readonly used: number }[] | null;
  readonly counters_unknown?: string;
}

describe('explain --request', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      ...thingsAt(upstream.url),
      gateway: { hosts: { api: 'api.example.com' }, publicUrl: 'https://api.example.com' },
      limits: {
        tiers: { standard: { requests: 2 } },
        extra: { reading: { requests: 7, per: 'key' } },
        operations: { createThing: { cost: 2 }, getThing: { extra: 'reading' } },
        organizations: { org_small1: { requests: 1 } },
      },
      environment: { KEY_PEPPER: PEPPER },
    });
    await gateway.issueKey();
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function told(request: string, ...words: string[]): Promise<Told> {
    const { code, out, err } = await explainer(gateway).run('--request', request, ...words, '--json');
    assert.equal(err, '');
    const story = JSON.parse(out) as Told;
    assert.equal(code, story.would === 'be sent' ? 0 : 1);
    return story;
  }

  async function refused(stage: string, code: string, request: string, ...words: string[]) {
    const story = await told(request, ...words);
    assert.equal(story.error?.code, code);
    assert.equal(story.would, 'be refused');
    assert.match(story.verdict, new RegExp(`would be refused by ${stage} with ${story.error?.status} ${code}`));
    assert.equal(story.stages.find(({ outcome }) => outcome === 'refused')?.stage, stage);
    return story;
  }

  const ofTest = ['--org', 'org_test'];
  const used = async () => (await gateway.app.operators.limits.show('org_test')) as { limits: { used: number }[] };

  it('names the target that it would be sent to, and spends nothing', async () => {
    const story = await told('GET /v1/things?q=a', ...ofTest);
    assert.equal(story.would, 'be sent');
    assert.equal(story.verdict, `GET /v1/things would be sent to ${upstream.url}.`);
    assert.deepEqual(
      story.counters?.map(({ policy, remaining, used }) => [policy, remaining, used]),
      [
        ['organization', 2, 0],
        ['reading', 7, 0],
      ],
    );
    assert.equal((await used()).limits[0]?.used, 0);
    assert.equal(upstream.requests.length, 0);
    assert.deepEqual(
      gateway.logLines().filter(({ msg }) => msg === 'exchange'),
      [],
    );
  });

  it('admit', async () => {
    await refused('admit', 'malformed_path', 'GET /v1/../things', ...ofTest);
    await refused('admit', 'misdirected_request', 'GET /v1/things', '--header', 'Host: other.example.com');
  });

  it('match', async () => {
    await refused('match', 'route_not_found', 'GET /v1/nothing', ...ofTest);
    const { error } = await refused('match', 'method_not_allowed', 'DELETE /v1/things', ...ofTest);
    assert.match(String(error?.doc_url), /^https:\/\/api\.example\.com\/docs\/errors\/method_not_allowed$/);
  });

  it('authenticate: no credentials, a key that does not exist, one that does', async () => {
    await refused('authenticate', 'api_key_missing', 'GET /v1/things');
    await refused('authenticate', 'api_key_malformed', 'GET /v1/things', '--header', 'Authorization: Bearer x');
    const { key } = await gateway.issueKey();
    const { would } = await told('GET /v1/things', '--header', `Authorization: Bearer ${key}`);
    assert.equal(would, 'be sent');
  });

  it('authorize: by the scopes of a key, or others; by its mode, its state and its addresses', async () => {
    const { id } = await gateway.issueKey({ scopes: ['things:write'], allowedCidrs: ['192.0.2.0/24'] });
    const { error } = await refused('authorize', 'insufficient_scope', 'GET /v1/things', '--key', id);
    assert.deepEqual(error?.required_scopes, ['things:read']);
    assert.equal((await told('GET /v1/things', '--key', id, '--scopes', 'things:read')).would, 'be sent');
    await refused('authorize', 'key_mode_mismatch', 'GET /v1/things', ...ofTest, '--mode', 'test');
    await refused('authorize', 'ip_not_allowed', 'GET /v1/things', '--key', id, '--client', '198.51.100.1');
    await gateway.store.keys.revoke(id, 'tests', undefined);
    await refused('authorize', 'api_key_revoked', 'GET /v1/things', '--key', id);
  });

  it('validate: the body is read, all violations are reported', async (test) => {
    const body = join(gateway.directory, 'body.json');
    writeFileSync(body, '{"name":1,"tags":2}');
    test.after(() => rmSync(body));
    const { error } = await refused('validate', 'validation_failed', 'POST /v1/things', ...ofTest, '--body', body);
    assert.deepEqual(((error?.errors ?? []) as { param: string }[]).map(({ param }) => param).sort(), ['name', 'tags']);
    await refused(
      'validate',
      'body_missing',
      'POST /v1/things',
      ...ofTest,
      '--header',
      'Content-Type: application/json',
    );
  });

  it('validate: an unknown field name is described in words', async (test) => {
    const body = join(gateway.directory, 'unnamed.json');
    writeFileSync(body, '{"name":"a","of_client":1}');
    test.after(() => rmSync(body));
    const { verdict, stages } = await refused(
      'validate',
      'validation_failed',
      'POST /v1/things',
      ...ofTest,
      '--body',
      body,
    );
    const inWords = 'a field that the contract does not name';
    assert.ok(verdict.endsWith(` with 400 validation_failed. ${inWords}: is not known here.`), verdict);
    assert.ok(stages.some(({ told }) => told.includes(`${inWords} is not known here (unknown)`)));
  });

  it('limit: as the counters stand, with the cost of the operation', async () => {
    const headers = await gateway.authorize();
    // fetch does not let Host be chosen, and the name of the listener is refused here.
    await new Promise<void>((resolve) => {
      const sent = request(
        `${gateway.url}/v1/things`,
        { headers: { ...headers, host: 'api.example.com' } },
        (answer) => {
          answer.resume().on('end', resolve);
        },
      );
      sent.end();
    });
    assert.equal((await told('GET /v1/things', ...ofTest)).would, 'be sent');
    const story = await refused('limit', 'rate_limited', 'POST /v1/things', ...ofTest);
    assert.deepEqual(story.error?.violated_policies, ['organization']);
    assert.ok(Number(story.error?.retry_after) > 50);
    assert.deepEqual(
      story.stages.find(({ stage }) => stage === 'limit')?.told[0]?.slice(0, 47),
      'organization: 1 of 2 left, this would take 2; m',
    );
    assert.equal((await used()).limits[0]?.used, 1);
  });

  it('says that waiting does not help where the cost exceeds the limit', async () => {
    await gateway.store.organizations.create(organization({ id: 'org_small1' }), 'tests');
    const { stages } = await refused('limit', 'rate_limited', 'POST /v1/things', '--org', 'org_small1');
    assert.equal(
      stages.find(({ stage }) => stage === 'limit')?.told[0],
      'organization: 1 of 1 left, this would take 2; waiting does not help: the cost exceeds the limit',
    );
  });

  it('suggests the nearest path and organization', async () => {
    const { run } = explainer(gateway);
    assert.match((await run('--request', 'GET /v1/thingz', ...ofTest)).out, /^Did you mean \/v1\/things\?$/m);
    assert.match((await run('--request', 'GET /v1/thing/t1', ...ofTest)).out, /^Did you mean \/v1\/things\/\{id\}\?$/m);
    assert.doesNotMatch((await run('--request', 'GET /v1/elephants', ...ofTest)).out, /Did you mean/);
    assert.equal(
      (await run('--request', 'GET /v1/things', '--org', 'org_tets')).err,
      'There is no organization org_tets. Did you mean "org_test"?',
    );
  });

  it('does not answer for any key where each key is counted by itself', async () => {
    const limitOf = async (...words: string[]) =>
      (await told('GET /v1/things/t1', ...words)).stages.find(({ stage }) => stage === 'limit')?.told[1];
    assert.equal(await limitOf(...ofTest), 'reading: 7 for each key, counted per key: name one with --key');
    const { id } = await gateway.issueKey();
    assert.equal(await limitOf('--key', id), 'reading: 7 of 7 left, this would take 1');
  });

  it('assumes unused counters where they cannot be read, and reports that', async () => {
    const away = explainer({ ...gateway, adminUrl: 'http://127.0.0.1:1' });
    const { code, out } = await away.run('--request', 'GET /v1/things', ...ofTest);
    assert.equal(code, 0);
    assert.match(out, /\nThe counters are taken for unused: No gateway answers at /);
    assert.match(out, /\nforward +passed +would be sent to http/);
  });

  it('names a request that cannot be tried out, or has syntax errors', async () => {
    const { run } = explainer(gateway);
    const ended = async (...words: string[]) => {
      const { code, err } = await run(...words);
      return `${code} ${err}`;
    };
    assert.match(
      await ended('--request', 'GET /v1/things', '--org', 'org_nobody'),
      /^1 There is no organization org_nobody/,
    );
    assert.match(await ended('--request', 'GET /v1/things', '--key', 'key_none'), /^1 There is no key key_none/);
    const secret = `sk_live_${'a'.repeat(38)}`;
    assert.match(
      await ended('--request', 'GET /v1/things', '--key', secret),
      /^2 This is a key, not its id\. `bin\/gateway keys list` shows the ids\.\s*$/,
    );
    assert.match(
      await ended('--request', 'POST /v1/things', '--body', '{"name":"a"}'),
      /^2 --body takes the name of a file\. Write the body into one\.\s*$/,
    );
    assert.match(await ended('--request', '/v1/things'), /^2 Write the request as method and target/);
    assert.match(await ended('--request', 'GET /v1/things', '--header', 'nonsense'), /^2 "nonsense" is not a header/);
    assert.match(
      await ended('--request', 'GET /v1/things', '--header', 'X: \u0001'),
      /^2 This cannot be sent as a request/,
    );
    assert.match(
      await ended('--request', 'GET /v1/things', '--header', 'Authorization: Basic eDp5'),
      /^2 Tokens and passwords/,
    );
    assert.match(
      await ended('--request', 'GET /v1/things', '--client', 'nowhere'),
      /^2 --client "nowhere" is not an addr/,
    );
    assert.match(await ended(), /^2 Name a request id, or a --request\./);
  });
});
