// Each answer of the mail server, played by a script, and the status and object that the client gets for it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { closesAfterAll } from '../../support/closing.ts';
import type { Answer } from '../../support/connection.ts';
import { assertRefusal, SECRET } from '../../support/errors.ts';
import { bodyOf, newPassword, startMailGateway } from '../../support/mail.ts';
import { headersOf, httpAnswer, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { unusedPort } from '../../support/upstream.ts';
import { answerCases, changes, created, type Operation } from './answers.cases.ts';

const OPERATOR = { organization: 'org_operator', operator: true, scopes: ['mail:read', 'mail:write'] };

const start = closesAfterAll();
const upstream = await start(startScriptedUpstream());
const world = await start(startMailGateway(upstream.url, newPassword()));

/** With a credential that the mail server has not refused: some cases make it refuse the one before. */
async function ask(operation: Operation): Promise<Answer> {
  const password = newPassword();
  world.useSecret(password);
  const { authorization: Authorization } = await world.gateway.authorize(OPERATOR);
  const requests = {
    list: () => world.call('GET /api/principal', undefined, { Authorization }),
    create: () => world.call('POST /api/principal', created, { Authorization }),
    get: () => world.call('GET /api/principal/Dana', undefined, { Authorization }),
    update: () => world.call('PATCH /api/principal/Dana', changes, { Authorization }),
    delete: () => world.call('DELETE /api/principal/Dana', undefined, { Authorization }),
  };
  return requests[operation]();
}

for (const {
  name,
  operations,
  plays,
  code,
  status,
  members = {},
  message,
  asked = 1,
  askedIfIdempotent = asked,
} of answerCases) {
  describe(name, () => {
    for (const operation of operations) {
      it(`on ${operation} → ${status ?? REFUSALS[code].status} ${code}`, async () => {
        upstream.plays(plays);
        const before = upstream.received.length;
        const answer = await ask(operation);
        assertRefusal(answer, code, status);
        const times = upstream.received.length - before;
        // A credential that is refused is tried again if it has just been changed.
        const expected = operation === 'create' || operation === 'update' ? asked : askedIfIdempotent;
        assert.ok(times === expected || (code === 'upstream_auth_failed' && times === 2), `${times}`);
        const { error } = answer;
        for (const [member, value] of Object.entries(members)) assert.deepEqual(error[member], value, member);
        if (!('param' in members)) assert.equal(error.param, undefined);
        if (message !== undefined) assert.equal(error.message, message);
        else if (status === undefined) assert.equal(error.message, REFUSALS[code].message);
      });
    }
  });
}

describe('an answer with data', () => {
  const plays = (body: string) => upstream.plays((socket) => socket.write(httpAnswer(200, body)));
  const textOf = async (operation: Operation) => {
    const answer = await ask(operation);
    assert.equal(answer.status, 200);
    return answer.body.toString();
  };

  it('passes unchanged', async () => {
    for (const [operation, body] of [
      ['create', '{"data":4}'],
      ['update', '{"data":null}'],
      ['delete', '{"data":null}'],
      ['get', '{"data":{"id":4,"type":"individual","name":"dana","usedQuota":9007199254740993}}'],
      ['list', '{"data":{"items":[],"total":0}}'],
    ] as const) {
      plays(body);
      assert.equal(await textOf(operation), body);
    }
  });

  it('loses its secrets, one principal or many, and nothing else', async () => {
    const principal = { id: 4, type: 'individual', name: 'dana', secrets: [SECRET], description: 'secrets' };
    const { secrets: _, ...rest } = principal;
    plays(JSON.stringify({ data: principal }));
    assert.deepEqual(JSON.parse(await textOf('get')), { data: rest });
    plays(JSON.stringify({ data: { items: [principal, rest, principal], total: 3 } }));
    assert.deepEqual(JSON.parse(await textOf('list')), { data: { items: [rest, rest, rest], total: 3 } });
  });
});

describe('a list', () => {
  it('that lost a principal on the way is requested once more', async () => {
    let times = 0;
    upstream.plays((socket) => {
      times += 1;
      const body = times === 1 ? { error: 'notFound', item: 'gone' } : { data: { items: [], total: 0 } };
      socket.write(httpAnswer(200, JSON.stringify(body)));
    });
    const answer = await ask('list');
    assert.deepEqual([answer.status, bodyOf(answer), times], [200, { data: { items: [], total: 0 } }, 2]);
  });
});

describe('a request', () => {
  const hash = /^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;
  const sentAs = async (line: string, body?: unknown) => {
    upstream.plays((socket) => socket.write(httpAnswer(200, '{"data":4}')));
    world.useSecret(newPassword());
    await ask('list');
    const { authorization: Authorization } = await world.gateway.authorize(OPERATOR);
    assert.equal((await world.call(line, body, { Authorization })).status, 200);
    const request = upstream.received.at(-1) as string;
    const [head = '', sent = ''] = request.split('\r\n\r\n');
    return {
      line: head.split('\r\n')[0],
      headers: headersOf(request),
      sent: sent === '' ? undefined : JSON.parse(sent),
    };
  };

  it('to create an account has its password hashed, and a role', async () => {
    const { sent } = await sentAs('POST /api/principal', { ...created, secrets: ['open sesame'] });
    const { secrets, ...rest } = sent;
    assert.match(secrets[0], hash);
    assert.deepEqual(rest, { ...created, roles: ['user'] });
  });

  it('to change secrets has those hashed and nothing else changed', async () => {
    const added = { action: 'addItem', field: 'secrets', value: 'open sesame' };
    const set = { action: 'set', field: 'secrets', value: ['open sesame'] };
    const removed = { ...added, action: 'removeItem', value: '$app$phone$' };
    const { line, sent } = await sentAs('PATCH /api/principal/Dana', [...changes, added, set, removed]);
    assert.equal(line, 'PATCH /api/principal/dana HTTP/1.1');
    assert.match(sent[2].value, hash);
    assert.match(sent[3].value[0], hash);
    assert.deepEqual(sent, [...changes, { ...added, value: sent[2].value }, { ...set, value: sent[3].value }, removed]);
  });

  it('has passwords hashed however the members around them are spelled, or is refused', async () => {
    const spelled = '[{"\\u0061ction":"add\\u0049tem","fi\\u0065ld":"s\\u0065crets","v\\u0061lue":"open sesame"}]';
    assert.match((await sentAs('PATCH /api/principal/dana', spelled)).sent[0].value, hash);
    const created = await sentAs('POST /api/principal', '{"name":"dana","s\\u0065crets":"open sesame"}');
    assert.match(created.sent.secrets, hash);
    const before = upstream.received.length;
    const refused = [
      ['PATCH /api/principal/dana', '[{"action":"set","field":"description","field":"secrets","value":"open sesame"}]'],
      ['PATCH /api/principal/dana', '[{"action":"set","field":"Secrets","value":"open sesame"}]'],
      ['PATCH /api/principal/dana', '[[{"action":"set","field":"secrets","value":"open sesame"}]]'],
      ['POST /api/principal', '{"name":"dana","secrets":[["open sesame"]]}'],
      ['POST /api/principal', '{"name":"dana","secrets":{"0":"open sesame"}}'],
      ['POST /api/principal', '{"name":"dana","secrets":"","secrets":"open sesame"}'],
      ['POST /api/principal', '{"name":"dana","Secrets":"open sesame"}'],
    ] as const;
    const { authorization: Authorization } = await world.gateway.authorize(OPERATOR);
    for (const [line, body] of refused)
      assert.equal((await world.call(line, body, { Authorization })).status, 400, body);
    assert.equal(upstream.received.length, before);
  });

  it('has its name in lower case, and the credential of the gateway', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { line, headers } = await sentAs(`${method} /api/principal/D%C3%84NA`);
      assert.equal(line, `${method} /api/principal/d%C3%A4na HTTP/1.1`);
      assert.match(headers.get('authorization') ?? '', /^Basic /);
    }
  });
});

describe('a mail server that is away', () => {
  it('→ 502 upstream_unreachable', async () => {
    const away = await startMailGateway(`http://127.0.0.1:${await unusedPort()}`, newPassword());
    assertRefusal(await away.call('GET /api/principal'), 'upstream_unreachable');
    await away.stop();
  });

  it('→ 504 upstream_timeout when it is silent', async () => {
    upstream.plays(() => {});
    const silent = await startMailGateway(upstream.url, newPassword(), { timeoutMs: 100 });
    assertRefusal(await silent.call('GET /api/principal'), 'upstream_timeout');
    await silent.stop();
  });
});
