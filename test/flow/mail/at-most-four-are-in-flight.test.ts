// The mail server answers 400 to a fifth request of one account at a time. So the gateway sends it four, and the rest waits.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { eventually } from '../../support/instances.ts';
import { type MailGateway, newPassword, startMailGateway, startMailWorld } from '../../support/mail.ts';
import { startUpstream } from '../../support/upstream.ts';

describe('a mail server that takes its time', () => {
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  let world: MailGateway;
  const held: (() => void)[] = [];
  let isHolding = false;
  before(async () => {
    upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json');
      const answer = () => void response.end('{"data":{"items":[],"total":0}}');
      if (isHolding) held.push(answer);
      else answer();
    });
    world = await startMailGateway(upstream.url, newPassword());
  });
  after(async () => {
    await world.stop();
    await upstream.close();
  });
  const list = () => world.call('GET /api/principal');
  const state = async () => {
    const { upstreams } = (await (await fetch(`${world.gateway.adminUrl}/status`)).json()) as {
      upstreams: { mail: { in_flight: number; waiting: number } };
    };
    return { in_flight: upstreams.mail.in_flight, waiting: upstreams.mail.waiting };
  };

  it('has one request until the credential is known to be right, then four, and the rest in their order', async () => {
    isHolding = true;
    const answers = Array.from({ length: 20 }, list);
    await until(() => held.length === 1);
    // A request sent too early would have arrived by now.
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(upstream.requests.length, 1);
    held.shift()?.();
    await until(() => held.length === 4);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(upstream.requests.length, 5);
    assert.deepEqual(await state(), { in_flight: 4, waiting: 15 });
    isHolding = false;
    for (const answer of held.splice(0)) answer();
    assert.deepEqual(new Set((await Promise.all(answers)).map(({ status }) => status)), new Set([200]));
    assert.equal(upstream.requests.length, 20);
  });

  it('is not waited for longer than the deadline, in line and in flight together', async () => {
    const hurried = await startMailGateway(upstream.url, newPassword(), { timeoutMs: 1000 });
    const ask = () => hurried.call('GET /api/principal');
    isHolding = true;
    const answers = await Promise.all(Array.from({ length: 6 }, ask));
    for (const { error } of answers) assert.match(String(error.code), /^upstream_(timeout|overloaded)$/);
    isHolding = false;
    held.splice(0);
    assert.equal((await ask()).status, 200);
    await hurried.stop();
  });

  it('drops a request when its client leaves', async () => {
    isHolding = true;
    const before = upstream.requests.length;
    const first = Array.from({ length: 4 }, list);
    await until(() => held.length === 4);
    const gone = new AbortController();
    const left = fetch(`${world.gateway.url}/api/principal`, {
      headers: { authorization: world.administrator },
      signal: gone.signal,
    });
    await eventually(async () => (await state()).waiting === 1);
    gone.abort();
    await assert.rejects(left);
    await until(() => world.gateway.logLines().some(({ status }) => status === 499));
    isHolding = false;
    for (const answer of held.splice(0)) answer();
    await Promise.all(first);
    assert.equal((await list()).status, 200);
    assert.equal(upstream.requests.length, before + 5);
  });
});

describe('a mail server that counts', () => {
  it('never has to refuse a fifth one', async () => {
    const world = await startMailWorld({}, {}, { exemption: false, answerDelayMs: 20, accountPerMinute: 1000 });
    const answers = await Promise.all(Array.from({ length: 40 }, () => world.call('GET /api/principal')));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    await world.stop();
  });

  it('would refuse it, and then the client gets a Retry-After', async () => {
    const world = await startMailWorld({}, {}, { exemption: false });
    assert.equal((await world.call('GET /api/principal')).status, 200);
    // Requests of the account that pass the gateway by stay in flight, because the end of their bodies never comes.
    const { port } = new URL(world.mail.url);
    const held = await Promise.all(Array.from({ length: 5 }, () => openConnection(Number(port))));
    const endless = { Authorization: world.administrator, 'Content-Length': '1' };
    for (const connection of held) connection.send(requestOf('GET /api/principal', endless));
    const fifth = await Promise.race(held.map((connection) => connection.answer()));
    assert.equal(fifth?.status, 400);
    assertRefusal(await world.call('GET /api/principal'), 'upstream_overloaded');
    for (const connection of held) connection.destroy();
    await eventually(async () => (await world.call('GET /api/principal')).status === 200);
    await world.stop();
  });
});
