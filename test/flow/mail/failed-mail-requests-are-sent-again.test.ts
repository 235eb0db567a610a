// Toward the mail server a connection that breaks is no wrong password: it is tried again as anywhere else, one at a time while the
// credential is unproven. A refused credential is never a failure to be tried again.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { type MailGateway, newPassword, startMailGateway } from '../../support/mail.ts';
import {
  headersOf,
  httpAnswer,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../support/scripted-upstream.ts';
import { createSkip } from '../../support/skip.ts';

let upstream: ScriptedUpstream;
let world: MailGateway;
beforeEach(async () => {
  upstream = await startScriptedUpstream();
  world = await startMailGateway(upstream.url, newPassword(), { timeoutMs: 60_000, breaker: 'off' });
});
afterEach(async () => {
  await world.stop();
  await upstream.close();
});

const data = httpAnswer(200, '{"data":{"items":[],"total":0}}');
const list = () => world.call('GET /api/principal');
const line = () => world.gateway.logLines().findLast(({ msg }) => msg === 'exchange') ?? {};
const state = async () => {
  const status = await (await fetch(`${world.gateway.adminUrl}/status`)).json();
  return (status as { upstreams: { mail: { credential: string } } }).upstreams.mail.credential;
};
function playInTurn(...scripts: Script[]): void {
  let next = 0;
  upstream.plays((socket, request) => scripts[Math.min(next++, scripts.length - 1)]?.(socket, request));
}

describe('a connection that breaks', () => {
  it('is tried again with the credential, without a message', async () => {
    playInTurn(
      (socket) => socket.destroy(),
      (socket) => void socket.write(data),
    );
    assert.equal((await list()).status, 200);
    assert.deepEqual(line().retries, ['connection_lost']);
    assert.equal(new Set(upstream.received.map((text) => headersOf(text).get('authorization'))).size, 1);
    assert.equal(await state(), 'proven');
  });

  it('leaves the credential unproven, and one request at a time', async () => {
    let atOnce = 0;
    let most = 0;
    upstream.plays((socket) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      setTimeout(() => {
        atOnce -= 1;
        socket.destroy();
      }, 10);
    });
    for (const answer of await Promise.all([list(), list(), list()])) assert.ok(answer.status >= 500);
    assert.equal(most, 1);
    assert.equal(await state(), 'unproven');
  });

  it('under a write is reported, not tried again', async () => {
    upstream.plays((socket) => socket.destroy());
    const answer = await world.call('POST /api/principal', { type: 'group', name: 'crew' });
    assertRefusal(answer, 'upstream_bad_response');
    assert.equal(upstream.received.length, 1);
  });
});

describe('a credential that is refused', () => {
  it('is not tried again, even after a connection that broke', async () => {
    playInTurn(
      (socket) => socket.destroy(),
      (socket) => void socket.write(httpAnswer(401, '{}')),
    );
    assertRefusal(await list(), 'upstream_auth_failed');
    assertRefusal(await list(), 'upstream_auth_failed');
    assert.equal(upstream.received.length, 2);
    assert.equal(await state(), 'latched');
  });
});

describe('an answer that a rule has tried again', () => {
  const race = httpAnswer(200, '{"error":"notFound","item":"gone"}');

  it('is requested once more, after any failure before it', async () => {
    playInTurn(
      (socket) => socket.destroy(),
      (socket) => void socket.write(race),
      (socket) => void socket.write(data),
    );
    assert.equal((await list()).status, 200);
    assert.deepEqual([line().attempts, line().retries], [3, ['connection_lost', 'declared']]);
  });

  it('is not sent a third time', async () => {
    upstream.plays((socket) => socket.write(race));
    assertRefusal(await list(), 'upstream_unavailable');
    assert.equal(upstream.received.length, 2);
  });

  it('has the time that the deadline leaves', async (context) => {
    const sockets: Socket[] = [];
    upstream.plays((socket) => sockets.push(socket));
    const skip = createSkip(context);
    const answer = list();
    const [first] = await until(() => sockets.length === 1 && (sockets as [Socket]));
    skip(50_000);
    first.write(race);
    await until(() => sockets.length === 2);
    skip(11_000);
    assertRefusal(await answer, 'upstream_timeout');
    assert.equal(upstream.received.length, 2);
    const took = Number(line().duration_ms);
    // With a deadline of its own, the second one would have ended after 110 s.
    assert.ok(took >= 60_000 && took < 110_000, `${took} ms`);
  });
});
