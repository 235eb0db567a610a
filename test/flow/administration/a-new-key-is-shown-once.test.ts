// The secret of a new key is in the first answer only: in no repetition, no store and no log line.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { startAdministration } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { startRedis } from '../../support/redis.ts';
import { bytesBelow, bytesInRedis } from '../../support/stored-bytes.ts';

const start = closesAfterAll();

for (const kind of ['SQLite', 'Redis'] as const) {
  describe(`a new key, with its store in ${kind}`, async () => {
    const redis = kind === 'Redis' ? await start(startRedis()) : undefined;
    const environment = redis === undefined ? {} : { REDIS_URL: redis.url };
    const { gateway, administer } = await start(startAdministration({ environment }));
    const { key } = await gateway.issueKey({ scopes: ['gateway:read', 'gateway:keys'] });

    for (const [what, lineOf] of [
      ['created', async () => 'POST /gateway/v1/keys'],
      [
        'rotated',
        async () => `POST /gateway/v1/keys/${(await gateway.issueKey({ scopes: ['gateway:read'] })).id}/rotate`,
      ],
    ] as const) {
      it(`is shown once when it is ${what}`, async () => {
        const line = await lineOf();
        const headers = { 'idempotency-key': randomUUID() };
        const request = { key, headers, body: what === 'created' ? { scopes: ['gateway:read'] } : {} };
        const first = await administer(line, request);
        assert.deepEqual([first.status, first.body.secret_shown], [201, 'here'], first.text);
        const { secret, ...shown } = first.body;
        assert.equal((await administer('GET /gateway/v1/organization', { key: secret })).status, 200);
        const again = await administer(line, request);
        assert.equal(again.headers.get('idempotent-replayed'), 'true');
        assert.deepEqual(again.body, { ...shown, secret: null, secret_shown: 'before' });
        const stored = redis === undefined ? bytesBelow(gateway.dataDirectory) : await bytesInRedis(redis.url);
        assert.ok(stored.includes(shown.id), 'the key is stored where this looks');
        for (const part of [secret, secret.slice('sk_live_'.length, -6)]) {
          assert.ok(!stored.includes(part));
          assert.ok(!JSON.stringify(gateway.logLines()).includes(part));
        }
      });
    }

    it('has no secret in a dry run, nor in its repetition', async () => {
      const request = { key, headers: { 'idempotency-key': randomUUID() }, body: { scopes: ['gateway:read'] } };
      for (let i = 0; i < 2; i += 1) {
        const { status, body } = await administer('POST /gateway/v1/keys?dry_run=true', request);
        assert.deepEqual([status, body.secret, body.secret_shown], [201, null, 'never']);
      }
    });
  });
}
