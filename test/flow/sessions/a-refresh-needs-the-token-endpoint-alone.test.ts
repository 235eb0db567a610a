// A refresh token is worth one request, and what fails after it costs the session: an instance that has never read the keys of the
// provider, as after a restart, renews tokens while they cannot be read.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '../../support/redis.ts';
import { startSessionGateway } from '../../support/sessions.ts';

const ACCESS_SECONDS = 1;

const redis = await startRedis();
const running = await startSessionGateway({
  instances: 2,
  environment: { REDIS_URL: redis.url, SESSION_KEYS: randomBytes(24).toString('base64url') },
  provider: { accessSeconds: ACCESS_SECONDS },
});
const { origin, provider, gateways } = running;
after(async () => {
  await running.close();
  await redis.stop();
});

it('a refresh does not ask for the keys of the provider', async () => {
  const browser = await running.signIn();
  const cookie = `gateway-session=${browser.cookies(origin).get('gateway-session')?.value}`;
  provider.answers('/jwks', (_request, response) => response.writeHead(500).end());
  await sleep(ACCESS_SECONDS * 1000 + 50);
  const other = gateways[1]?.url ?? '';
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const answer = await fetch(`${other}/v1/things`, { headers });
  assert.equal(answer.status, 200, await answer.text());
  assert.deepEqual(provider.errors, []);
});
