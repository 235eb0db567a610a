// `gateway explain` books a wait in the queue under `forward`, blames the service for no more than its part, and names what ended the
// request: the setting, the reason of the queue or of the breaker, the refused connection. Each ends with a next step.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import type { StatusForCauses } from '../../../gateway/console/causes/cause.ts';
import { until } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream, unusedPort } from '../../support/upstream.ts';
import { explainer } from './explained.ts';

const NOT_SENT = /^nothing was sent, because the gateway has no credential that it may send\ncause: the /;

async function storyOf(gateway: TestGateway, answer: Response) {
  const id = answer.headers.get('x-request-id') ?? '';
  const { run, stories } = explainer(gateway);
  const [story] = await stories(id);
  assert.ok(story);
  const told = story.stages.find(({ stage }) => stage === 'forward')?.told.join('\n') ?? '';
  return { story, told, out: (await run(id)).out };
}

describe('explain of a service with one place that does not answer', () => {
  const held: ServerResponse[] = [];
  let service: FakeUpstream;
  let gateway: TestGateway;
  let headers: { readonly authorization: string };
  before(async () => {
    service = await startUpstream((_request, response) => void held.push(response));
    const entry = {
      timeoutMs: 2000,
      maxInFlight: 1,
      breaker: { requestsMin: 3, failurePercent: 40, windowSeconds: 60 },
    };
    gateway = await startGateway(thingsAt(service.url, entry));
    headers = await gateway.authorize();
  });
  after(async () => {
    await gateway.stop();
    await service.close();
  });

  const call = () => fetch(`${gateway.url}/v1/things`, { headers });
  const isWaiting = async () => {
    const { upstreams } = (await gateway.app.operators.status()) as StatusForCauses;
    return (upstreams?.things as { readonly waiting?: number } | undefined)?.waiting === 1;
  };

  it('a wait in the queue belongs to forward, and the service had the rest of timeoutMs alone', async () => {
    const first = call();
    await eventually(async () => held.length === 1);
    const second = call();
    await eventually(isWaiting);
    held[0]?.setHeader('content-type', 'application/json').end('{}');
    assert.equal((await first).status, 200);
    const { story, told, out } = await storyOf(gateway, await second);
    const { queued_ms: queuedMs, stages_ms: stages } = story.record as {
      queued_ms: number;
      stages_ms: Record<string, number>;
    };
    assert.ok((stages.forward ?? 0) > queuedMs, JSON.stringify(stages));
    assert.match(told, /^it waited .* in the queue of the upstream\nsent to /);
    assert.match(told, /\nits time was over: timeoutMs is 2 s, the wait in the queue and all attempts included\n/);
    assert.match(
      story.verdict,
      /failed with 504 upstream_timeout .* It waited .* for its turn, and the service did not respond within the .* that were left\.$/,
    );
    assert.match(out, /^forward +failed /m);
    assert.match(out, /^Next: bin\/gateway upstreams try things --mode live\n {6}runbook GatewayTargetDown in docs/m);
  });

  it('a full queue and a closed breaker say why', async () => {
    const [first, second] = await Promise.all([call(), call()]);
    const overloaded = first.status === 503 ? first : second;
    const { told, out } = await storyOf(gateway, overloaded);
    assert.match(told, /cause: upstream_wait: no place of the upstream \(maxInFlight\) was free in time/);
    assert.match(out, /runbook GatewayShedding/);
    // Whether a failure after a wait counts for the breaker depends on the time that the service had.
    let refused = await call();
    for (let more = 0; more < 3 && refused.status !== 503; more += 1) refused = await call();
    assert.equal(refused.status, 503);
    assert.match(
      (await storyOf(gateway, refused)).told,
      /the circuit breaker of the upstream is open: http_response_timeout/,
    );
  });
});

describe('explain of a service that refuses the credential of the gateway', () => {
  it('says how to try it, how to send it again, and that nothing is sent meanwhile', async () => {
    const service = await startUpstream((_request, response) => response.writeHead(401).end());
    const credential = { bearer: { secret: 'things_token' } };
    const environment = { THINGS_TOKEN: 'a-former-token' };
    const gateway = await startGateway({ ...thingsAt(service.url, { credential }), environment });
    try {
      const headers = await gateway.authorize();
      for (let latched = 0; latched < 2; latched += 1) {
        const { out, told, story } = await storyOf(gateway, await fetch(`${gateway.url}/v1/things`, { headers }));
        assert.match(
          out,
          /^Next: bin\/gateway upstreams try things --mode live\n {6}bin\/gateway upstreams retry things # once /m,
        );
        assert.match(out, /^ {6}runbook GatewayCredentialLatched in docs/m);
        assert.match(told, latched === 0 ? /^sent to .*\nit answered 401 after / : NOT_SENT);
        assert.equal(story.refused, latched === 1);
        if (latched === 1)
          assert.match(story.verdict, /refused by forward .* Nothing was sent: the service refused the secret/);
      }
    } finally {
      await gateway.stop();
      await service.close();
    }
  });
});

describe('explain of an upstream whose secret is missing', () => {
  it('says that nothing was sent, names the secret, and leads to the doctor', async () => {
    const service = await startUpstream((_request, response) => response.writeHead(200).end('{}'));
    const secrets = temporaryDirectory();
    writeFileSync(join(secrets, 'things_token'), 'a-token');
    const credential = { bearer: { secret: 'things_token' } };
    const environment = { SECRETS_DIR: secrets };
    const gateway = await startGateway({ ...thingsAt(service.url, { credential }), environment });
    try {
      const headers = await gateway.authorize();
      rmSync(join(secrets, 'things_token'));
      const refused = await until(async () => {
        const answer = await fetch(`${gateway.url}/v1/things`, { headers });
        await answer.text();
        return answer.status === 502 && answer;
      });
      const { out, told, story } = await storyOf(gateway, refused);
      assert.match(told, NOT_SENT);
      assert.match(
        story.verdict,
        /was refused by forward .* Nothing was sent: the secret of the credential, things_token, is missing\.$/,
      );
      assert.match(out, /^Next: bin\/gateway doctor\n {6}runbook GatewayCredentialMissing in docs/m);
      const row = (await (await fetch(`${gateway.adminUrl}/console/codes/upstream_auth_failed`)).json()) as {
        readonly catalogue: { readonly place: string };
      };
      assert.match(row.catalogue.place, /^the configuration of the gateway, if its secret is missing/);
    } finally {
      await gateway.stop();
      await service.close();
    }
  });
});

describe('explain of a service that asks for a credential which the entry does not have', () => {
  for (const [name, more] of [
    ['an entry', {}],
    // biome-ignore lint/suspicious/noThenProperty: the name of a setting
    ['an entry with rules', { answers: [{ when: { status: 404 }, then: { code: 'resource_missing' } }] }],
  ] as const)
    it(`${name}: says what to add, and nothing of a refused one`, async () => {
      const service = await startUpstream((_request, response) => response.writeHead(401).end());
      const gateway = await startGateway(thingsAt(service.url, more)).catch(async (error) => {
        await service.close();
        throw error;
      });
      try {
        const answer = await fetch(`${gateway.url}/v1/things`, { headers: await gateway.authorize() });
        const { told, out } = await storyOf(gateway, answer);
        assert.match(told, /^it answered 401 after /m);
        assert.match(
          told,
          /^cause: the service asks for a credential, and its entry sends none: add `credential: \{ bearer: \{ secret: things_token \} \}` to upstreams\.things in upstreams\.yaml/m,
        );
        assert.match(
          out,
          /^Next: bin\/gateway upstreams try things --mode live\n {6}runbook GatewayCredentialMissing in docs/m,
        );
        assert.doesNotMatch(out, /upstreams retry/);
        for (let sent = 0; sent < 3; sent += 1) {
          const headers = await gateway.authorize();
          await (await fetch(`${gateway.url}/v1/things`, { headers })).text();
        }
        const { causes } = (await (await fetch(`${gateway.adminUrl}/causes`)).json()) as CausesReport;
        const [cause, ...others] = causes.filter(({ id }) => id.startsWith('operation'));
        assert.deepEqual(others, []);
        assert.match(
          cause?.consequence ?? '',
          /because the service asks for a credential, and its entry sends none: add `credential: .*` to upstreams\.things in upstreams\.yaml\.$/,
        );
        assert.equal(cause?.runbook, 'GatewayCredentialMissing');
        assert.equal(cause?.next, 'bin/gateway upstreams try things --mode live');
      } finally {
        await gateway.stop();
        await service.close();
      }
    });
});

describe('explain of a service that is not there', () => {
  it('says that no connection could be made', async () => {
    const gateway = await startGateway(thingsAt(`http://127.0.0.1:${await unusedPort()}`));
    try {
      const answer = await fetch(`${gateway.url}/v1/things`, { headers: await gateway.authorize() });
      const { told, out } = await storyOf(gateway, answer);
      assert.match(told, /no connection to it could be made, and nothing was sent\ncause: ECONNREFUSED/);
      assert.match(out, /^Next: bin\/gateway upstreams try things --mode live\n {6}runbook GatewayTargetDown/m);
    } finally {
      await gateway.stop();
    }
  });
});

describe('explain of a service that answers with a page', () => {
  const pages: [string, number, Record<string, string>, string, RegExp | undefined][] = [
    [
      'of HTML',
      500,
      { 'content-type': 'text/html; charset=utf-8' },
      '<h1>Boom</h1>',
      /its body was text\/html; charset=utf-8, 13 bytes; the client got none of it/,
    ],
    ['without a type', 404, {}, 'gone', /its body was without a media type, 4 bytes/],
    ['that is long', 502, { 'content-type': 'text/plain' }, 'x'.repeat(70_000), /text\/plain, more than 65536 bytes/],
    [
      'of JSON',
      500,
      { 'content-type': 'application/problem+json' },
      '{}',
      /its body was application\/problem\+json, 2 bytes/,
    ],
    ['of JSON of a 4xx not', 409, { 'content-type': 'application/problem+json' }, '{}', undefined],
  ];
  for (const [name, status, headers, body, expected] of pages)
    it(`tells the media type and the size of one ${name}`, async () => {
      const service = await startUpstream((_request, response) => void response.writeHead(status, headers).end(body));
      const gateway = await startGateway(thingsAt(service.url));
      const answer = await fetch(`${gateway.url}/v1/things/one`, { headers: await gateway.authorize() });
      const { told } = await storyOf(gateway, answer);
      if (expected === undefined) assert.doesNotMatch(told, /its body/);
      else assert.match(told, expected);
      await gateway.stop();
      await service.close();
    });
});
