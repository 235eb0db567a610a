// A `set` of a list of a principal is read and written under a lock that all instances share in Redis. Two of them at once lose nothing, a
// lock is released however its request ends, and without Redis the locks of each process go on.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, describe, it } from 'node:test';
import { until } from '../../support/connection.ts';
import { bodyOf, type MailGateway, newPassword, startMail, startMailGateway } from '../../support/mail.ts';
import { startMailFront } from '../../support/mail-front.ts';
import { lookInside, startRedis } from '../../support/redis.ts';

const password = newPassword();
/** A lock that is not released outlasts every request that waits for it. */
const TIMEOUT_MS = 8000;
const groups = Array.from({ length: 6 }, (_, index) => `group-${index}`);

const redis = await startRedis();
const mail = await startMail(password);
const front = await startMailFront(mail.url);
const gateway = { timeouts: { drainMs: 100 } };
const options = { gateway, environment: { REDIS_URL: redis.url } };
const start = () => startMailGateway(front.url, password, { timeoutMs: TIMEOUT_MS }, options);
const [one, other] = [await start(), await start()];
for (const name of groups) await create({ type: 'group', name });
after(async () => {
  await Promise.all([one.stop(), other.stop()]);
  await front.close();
  await mail.close();
  await redis.stop();
});

async function create(principal: object): Promise<void> {
  assert.equal((await one.call('POST /api/principal', principal)).status, 200);
}
const set = (gateway: MailGateway, name: string, memberOf: readonly string[]) =>
  gateway.call(`PATCH /api/principal/${name}`, [{ action: 'set', field: 'memberOf', value: memberOf }]);
async function groupsOf(name: string): Promise<unknown> {
  const { data } = bodyOf(await other.call(`GET /api/principal/${name}`));
  const { memberOf, roles } = data as { memberOf?: unknown; roles?: unknown };
  return { memberOf, roles };
}

async function locks(): Promise<number> {
  const inside = lookInside(redis.url);
  try {
    return (await inside.keys(`${new URL(redis.url).searchParams.get('keyPrefix') ?? ''}record-lock:*`)).length;
  } finally {
    inside.disconnect();
  }
}

describe('two instances', () => {
  it('never read a principal between the read and the write of the other', async () => {
    await create({ name: 'dana' });
    front.taken();
    const wanted = Array.from({ length: 20 }, (_, index) => groups.filter((_, bit) => (index >> bit) % 2 === 1));
    const answers = await Promise.all(wanted.map((value, index) => set(index % 2 === 0 ? one : other, 'DANA', value)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.deepEqual(
      front.taken().map((line) => line.split(' ')[0]),
      wanted.flatMap(() => ['GET', 'PATCH']),
    );
    const { memberOf = [], roles } = (await groupsOf('dana')) as { memberOf?: string[]; roles: string[] };
    assert.ok(
      wanted.some((value) => value.join() === memberOf.join()),
      memberOf.join(),
    );
    assert.deepEqual(roles, ['user']);
    assert.equal(await locks(), 0);
  });

  it('do not wait for a request whose client has left', async () => {
    await create({ name: 'robin' });
    let held: ServerResponse | undefined;
    front.meddle((_request, response) => {
      if (held !== undefined) return false;
      held = response;
      return true;
    });
    const gone = new AbortController();
    const left = fetch(`${one.gateway.url}/api/principal/robin`, {
      method: 'PATCH',
      headers: { authorization: one.administrator, 'content-type': 'application/json' },
      body: JSON.stringify([{ action: 'set', field: 'memberOf', value: [] }]),
      signal: gone.signal,
    });
    await until(() => held !== undefined);
    assert.equal(await locks(), 1);
    const waiting = set(other, 'robin', ['group-1']);
    gone.abort();
    await assert.rejects(left);
    assert.equal((await waiting).status, 200);
    front.meddle(undefined);
    assert.deepEqual(await groupsOf('robin'), { memberOf: ['group-1'], roles: ['user'] });
    assert.equal(await locks(), 0);
  });

  it('use locks in each process while Redis is away, and log this', async () => {
    await create({ name: 'kim' });
    const states = () =>
      one.gateway
        .logLines()
        .filter(({ msg }) => msg === 'the store of the locks of records changed its state')
        .map(({ state }) => state);
    await redis.kill();
    front.taken();
    const values = [['group-1'], ['group-2'], ['group-3']];
    for (const { status } of await Promise.all(values.map((value) => set(one, 'kim', value))))
      assert.equal(status, 200);
    assert.deepEqual(
      front.taken().map((line) => line.split(' ')[0]),
      values.flatMap(() => ['GET', 'PATCH']),
    );
    await until(() => states().length === 1);
    await redis.restart();
    for (let isBack = false; !isBack; isBack = states().length === 2)
      assert.equal((await set(one, 'kim', [])).status, 200);
    assert.deepEqual(states(), ['away', 'up']);
  });

  it('do not wait for a Redis that does not answer', async () => {
    await create({ name: 'alex' });
    redis.pause();
    try {
      assert.equal((await set(one, 'alex', ['group-1'])).status, 200);
    } finally {
      redis.resume();
    }
    assert.deepEqual(await groupsOf('alex'), { memberOf: ['group-1'], roles: ['user'] });
  });

  it('do not wait for a gateway that has been stopped', async () => {
    await create({ name: 'sam' });
    let isHeld = false;
    front.meddle(() => {
      const isFirst = !isHeld;
      isHeld = true;
      return isFirst;
    });
    for (let isUp = false; !isUp; isUp = (await locks()) === 1) {
      isHeld = false;
      void set(one, 'sam', []).catch(() => undefined);
      await until(() => isHeld);
    }
    await one.stop();
    assert.equal((await set(other, 'sam', ['group-2'])).status, 200);
    front.meddle(undefined);
    assert.deepEqual(await groupsOf('sam'), { memberOf: ['group-2'], roles: ['user'] });
  });
});
