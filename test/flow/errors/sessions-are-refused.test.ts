// Refusals about sessions of people: error objects for pages and programs, and pages for people.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { runCases } from '../../support/errors.ts';
import { type SessionGateway, startSessionGateway } from '../../support/sessions.ts';
import { pageCases, sessionCases } from './session.cases.ts';

let world: SessionGateway;
before(async () => {
  world = await startSessionGateway({
    publicUrl: 'http://localhost:8080',
    loginQuery: '?provider=staff',
    providers: { away: { issuer: 'http://127.0.0.1:9', clientId: 'x', timeoutMs: 500 } },
  });
});
after(() => world.close());

describe('requests', () => runCases(sessionCases, () => world));

describe('logins', () => {
  for (const { name, code, says, provoke } of pageCases) {
    it(`${name} → a page for ${code}`, async () => {
      const { status, headers, text } = await provoke(world);
      assert.equal(status, REFUSALS[code].status, text);
      assert.equal(headers.get('x-error-code'), code);
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.match(text, says);
      assert.ok(text.includes(headers.get('x-request-id') ?? 'no id'));
      assert.doesNotMatch(text, /127\.0\.0\.1|ECONN|org_unknown|declined/);
      const policies = headers.get('content-security-policy')?.split(', ') ?? [];
      assert.equal(policies.length, 1);
      assert.match(policies[0] ?? '', /script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'/);
      const log = world.gateway.logLines().findLast((line) => line.request_id === headers.get('x-request-id'));
      assert.equal(log?.code, code);
    });
  }
});
