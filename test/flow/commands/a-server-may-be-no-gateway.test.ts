// What answers at --server may be no gateway, a broken one, or one of another version: commands end with a sentence, within bounded time
// and memory, and the key goes nowhere else.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createAdministrationClient } from '../../../gateway/administration/client/client.ts';
import { serverAddressOf } from '../../../gateway/administration/client/server-address.ts';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Answer, startUpstream } from '../../support/upstream.ts';
import { commandLine } from './command-line.ts';

const start = closesAfterEach();
// Built here, so that no text of the repository looks like a key.
const KEY = ['sk', 'live', '0123456789abcdefghijklmnopqrstuvwxyzAB'].join('_');

async function lineTo(answer: Answer, environment: Record<string, string> = {}) {
  const server = await start(startUpstream(answer));
  const line = commandLine(undefined, { GATEWAY_SERVER: server.url, GATEWAY_KEY: KEY, ...environment });
  return { server, ...line };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
const errorOf = (members: Record<string, unknown>) => ({
  error: {
    type: 'permission_error',
    code: 'insufficient_scope',
    message: 'No.',
    retryable: false,
    request_id: 'req_1',
    ...members,
  },
});
const organization = { id: 'org_a', name: 'A', tier: 'standard', state: 'active', contacts: [], operator: false };
const pageOf = (...data: unknown[]) => ({ data, cursor: null, has_more: false });

/** name → what the server does, what the command says, and how many requests it sends. */
const answers: Readonly<Record<string, readonly [Answer, RegExp, number?]>> = {
  'a page of HTML': [
    (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works</h1>'),
    /^SERVER answers 200 with text\/html, and not as a gateway: is this the address of its API\?$/,
  ],
  'JSON that is none': [json(200, '{"data":'), /answers 200 with application\/json, and not as a gateway/],
  'a list in place of an object': [json(200, '[]'), /and not as a gateway/],
  'no body': [(_, response) => response.writeHead(204).end(), /answers 204 without a body, and not as a gateway/],
  'compressed JSON': [json(200, pageOf(), { 'content-encoding': 'gzip' }), /answers 200 with gzip, and not as/],
  'a redirect': [
    (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/x\u009b31m' }).end(),
    /^SERVER points to http:\/\/127\.0\.0\.1:1\/x\\u009b31m \(307\)\. The key was not sent there; name the right/,
  ],
  'the connection is closed': [
    (_, response) => response.destroy(),
    /has not answered: the connection broke .*, 3 times\.$/,
    3,
  ],
  'half of a body': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"data":');
      setTimeout(() => response.destroy(), 20);
    },
    /has not answered: the connection broke .*, 3 times\.$/,
    3,
  ],
  'a proxy whose gateway starts': [
    (_, response) => response.writeHead(503, { 'content-type': 'text/plain' }).end('starting'),
    /answers 503 with text\/plain, and not as a gateway/,
    3,
  ],
  'another version: no data': [json(200, { items: [] }), /answers, but "data" is missing or of another kind: it has/],
  'another version: a record without a tier': [
    json(200, pageOf({ ...organization, tier: undefined })),
    /answers, but "tier" is missing or of another kind/,
  ],
  'another version: contacts of another kind': [
    json(200, pageOf({ ...organization, contacts: [{ mail: 'a@b' }] })),
    /answers, but "contacts" is missing or of another kind/,
  ],
  'an error of another form': [json(400, { error: 'broken' }), /answers, but "error" is missing or of another kind/],
  'a cursor that leads to itself': [
    json(200, { data: [organization], cursor: 'same', has_more: true }),
    /answers, but "cursor" is missing or of another kind/,
    2,
  ],
  'a key without the scope': [
    json(403, errorOf({ required_scopes: ['gateway:organizations:read'] })),
    /^SERVER refuses it \(403 insufficient_scope, request req_1\): No\. Use a key that has gateway:organizations:read: "\*" does not/,
  ],
  'a wrong key': [
    json(401, errorOf({ type: 'authentication_error', code: 'api_key_invalid' })),
    /\(401 api_key_invalid, request req_1\): No\. Look at the key in GATEWAY_KEY or --key-file\.$/,
  ],
  'a test key': [json(403, errorOf({ code: 'key_mode_mismatch' })), /Use a live key\.$/],
  'no contract of its own': [
    json(404, errorOf({ code: 'route_not_found' })),
    /Either this is not the address of the API, or the gateway does not serve its own contract there/,
  ],
  'violations of the contract': [
    json(400, errorOf({ code: 'validation_failed', errors: [{ in: 'query', param: 'limit', message: 'Too large.' }] })),
    /No\. query limit: Too large\.$/,
  ],
  'text that commands a terminal': [
    json(400, errorOf({ code: 'x\u001b[2J', message: '\u001b]0;title\u0007\nsecond line', request_id: 'r\u202e' })),
    /^SERVER refuses it \(400 x\\u001b\[2J, request r\\u202e\): \\u001b\]0;title\\u0007\\u000asecond line$/,
  ],
  'a message of a megabyte': [json(400, errorOf({ message: 'x'.repeat(1_000_000) })), /x{500}…$/],
  'a wait of an hour': [
    json(429, errorOf({ code: 'rate_limited', retryable: true, retry_after: 3600 })),
    /429 rate_limited/,
  ],
  prototypes: [json(200, '{"__proto__":{"data":[]},"cursor":null}'), /"data" is missing/],
};

describe('a command at a server', () => {
  for (const [name, [answer, says, sent = 1]] of Object.entries(answers)) {
    it(`that answers with ${name}, ends with a sentence`, async () => {
      const { server, run } = await lineTo(answer);
      const { code, out, err } = await run('orgs', 'list');
      const sentence = err.replaceAll(server.url, 'SERVER');
      assert.deepEqual([code, out], [1, ''], err);
      assert.match(sentence, says);
      assert.doesNotMatch(err, new RegExp(KEY.slice(12)));
      assert.equal(server.requests.length, sent);
      assert.ok(err.length < 1500);
    });
  }

  it('that answers without an end, stops reading', async () => {
    let sent = 0;
    const { run } = await lineTo((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      pour(response, (bytes) => {
        sent += bytes;
      });
    });
    const { code, err } = await run('orgs', 'list');
    assert.equal(code, 1);
    assert.match(err, /answers with more than any gateway does: is it one\?$/);
    assert.ok(sent < 64 * 1024 * 1024, String(sent));
  });

  it('where nothing listens, says so at once', async () => {
    const { server, run } = await lineTo(json(200, pageOf()));
    await server.close();
    const { code, err } = await run('orgs', 'list');
    assert.deepEqual([code, err.replace(server.url, 'SERVER')], [1, NOTHING]);
  });

  it('that does not speak HTTP, says so', async () => {
    const { server, run } = await lineTo((_, response) => response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'));
    const { code, err } = await run('orgs', 'list');
    assert.equal(code, 1);
    assert.match(err, /does not answer as HTTP \(HPE_\w+\): is it a gateway\?$/);
    assert.equal(server.requests.length, 1);
  });

  it('that is slow, is waited for and asked again, with the same Idempotency-Key', async () => {
    const server = await start(startUpstream(() => undefined));
    const client = createAdministrationClient({
      address: serverAddressOf(server.url, false),
      key: KEY,
      version: 'test',
      patienceMs: 60,
      pauseMs: 1,
    });
    await assert.rejects(client.ask('POST', '/organizations/org_a/suspend'), {
      message: `${server.url} has not answered within 0.06 s, 3 times. Whether the change was made is unknown: look before you give the command again.`,
    });
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    assert.equal(keys.length, 3);
    assert.deepEqual(new Set(keys).size, 1);
    client.close();
  });

  it('that loses an answer gets the change again, and the command continues', async () => {
    let count = 0;
    const { server, run } = await lineTo((request, response, raw) => {
      count += 1;
      if (count === 1) response.destroy();
      else json(200, { ...organization, state: 'suspended' })(request, response, raw);
    });
    const { code, out } = await run('orgs', 'suspend', 'org_a');
    assert.deepEqual([code, out], [0, 'The organization org_a is suspended, on tier standard.\n']);
    const [first, second] = server.requests;
    assert.equal(first?.headers['idempotency-key'], second?.headers['idempotency-key']);
    assert.equal(second?.url, '/gateway/v1/organizations/org_a/suspend');
  });

  it('whose answer with a new key was lost, says which key to revoke', async () => {
    const { run } = await lineTo(json(201, { ...keyMembers, secret: null, secret_shown: 'before' }));
    const { code, out, err } = await run('keys', 'create', '--mode', 'live', '--scopes', 'customers:read', '--json');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^The key key_1 was made, but the answer with its secret was lost on its way: revoke it/);
  });
});

const NOTHING = 'SERVER cannot be reached (ECONNREFUSED): nothing listens there.';

const keyMembers = {
  id: 'key_1',
  organization_id: 'org_a',
  mode: 'live',
  name: '',
  state: 'active',
  scopes: ['customers:read'],
  allowed_cidrs: [],
  prefix: 'sk_live_0123',
  last_four: 'wxyz',
  created_at: '2026-11-01T00:00:00.000Z',
  created_by: 'key_0',
  expires_at: null,
  revoked_at: null,
  revoked_by: null,
  revoked_reason: null,
  last_used_at: null,
  replaced_by: null,
};

function pour(response: ServerResponse, noteSent: (bytes: number) => void): void {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const more = () => {
    while (!response.destroyed && response.write(chunk)) noteSent(chunk.length);
  };
  response.on('drain', more);
  response.on('close', () => response.removeListener('drain', more));
  more();
}

describe('TLS', async () => {
  const authority = createAuthority();

  async function secure(names: readonly string[], days = 90, fromDays = 0) {
    const { certificate, key } = authority.issue({ names, days, fromDays });
    let requests = 0;
    const server = createSecureServer({ cert: certificate, key }, (_, response) => {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(pageOf()));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    await start({ close: () => new Promise((closed) => server.close(closed)) });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { url, count: () => requests };
  }

  for (const [name, environment] of [
    ['', {}],
    [', also where NODE_TLS_REJECT_UNAUTHORIZED is 0', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ] as const)
    it(`fails with its reason if the authority is unknown${name}`, async (t) => {
      const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      Object.assign(process.env, environment);
      t.after(() => {
        if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
        else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
      });
      const { url, count } = await secure(['127.0.0.1']);
      const { code, err } = await commandLine(undefined, { GATEWAY_KEY: KEY }).run('--server', url, 'orgs', 'list');
      assert.equal(code, 1);
      assert.match(
        err,
        /^The certificate of https:\S+ is not accepted \(\w+\): no authority .* NODE_EXTRA_CA_CERTS\.$/,
      );
      assert.equal(count(), 0);
    });

  it('fails with its reason if the server speaks plain HTTP', async () => {
    const server = await start(startUpstream());
    const url = server.url.replace('http:', 'https:');
    const { code, err } = await commandLine(undefined, { GATEWAY_KEY: KEY }).run('--server', url, 'orgs', 'list');
    assert.equal(code, 1);
    assert.match(err, /cannot be reached \(\w+\): it does not speak TLS\. Is it an address for http\?$/);
  });
});

describe('the options', () => {
  const usage: Readonly<Record<string, readonly [words: readonly string[], says: RegExp]>> = {
    'http to another machine': [
      ['--server', 'http://gateway.example', 'orgs', 'list'],
      /^http:\/\/gateway\.example would get the key unencrypted, .* use https, or say --insecure if the way is safe\.$/,
    ],
    'a name that begins like loopback': [['--server', 'http://127.0.0.1.example', 'orgs', 'list'], /unencrypted/],
    'a password in the address': [
      ['--server', 'https://a:sesame@gateway.example', 'orgs', 'list'],
      /^The address of the server contains a user name or a password: the gateway knows keys only\.$/,
    ],
    'a query in the address': [['--server', 'https://gateway.example?x', 'orgs', 'list'], /has a query or a fragment/],
    'another protocol': [['--server', 'file:///etc', 'orgs', 'list'], /is not of the form https:\/\/host/],
    'no address': [['--server'], /^--server needs a value\.$/],
    'a key without a server': [['--key', KEY, 'orgs', 'list'], /^A key is for a remote gateway: name it with --server/],
    'two keys': [['--server', 'https://g.example', '--key', KEY, '--key-file', 'x', 'orgs', 'list'], /not both\.$/],
    'no key': [
      ['--server', 'https://g.example', 'orgs', 'list'],
      /^There is no key for https:\/\/g\.example\. Put it into GATEWAY_KEY/,
    ],
    'a key file that is not there': [
      ['--server', 'https://g.example', '--key-file', '/nowhere/key', 'orgs', 'list'],
      /^The key file \/nowhere\/key cannot be read \(ENOENT\)\.$/,
    ],
    'a key of two lines': [
      ['--server', 'https://g.example', '--key-file', join(temporaryKeys(), 'two'), 'orgs', 'list'],
      /^What is given as a key is none: it has other characters\.$/,
    ],
    'a command that the contract does not have': [
      ['--server', 'https://g.example', '--key-file', 'x', 'keys', 'export'],
      /^The contract of a gateway has no "keys export": give it on the machine of the gateway, without --server\. By contract: orgs create, /,
    ],
    start: [['--server', 'https://g.example', 'start'], /^The contract of a gateway has no "start"/],
    'operator organizations': [
      ['--server', 'https://g.example', 'orgs', 'create', '--name', 'A', '--tier', 'x', '--operator'],
      /^The contract makes no operator organizations/,
    ],
    'an option behind the command': [
      ['orgs', 'list', '--server', 'https://g.example'],
      /Write this option before the command/,
    ],
    'a log of this machine': [
      ['--server', 'https://g.example', 'explain', 'req_1', '--log', 'x'],
      /^The contract explains requests by their ids/,
    ],
    notices: [
      ['--server', 'https://g.example', 'versions', 'usage', '--notices', 'x'],
      /^The contract does not tell the contacts of organizations/,
    ],
    'a longer wait than the contract has': [
      ['--server', 'https://g.example', 'keys', 'revoke', 'key_1', '--wait', '--timeout', '2m'],
      /^A remote gateway waits 15 s at most: lower --timeout\.$/,
    ],
  };
  for (const [name, [words, says]] of Object.entries(usage))
    it(`${name}: wrong usage, with a sentence`, async () => {
      const { code, out, err } = await commandLine().run(...words);
      assert.deepEqual([code, out], [2, ''], err);
      assert.match(err, says);
      assert.doesNotMatch(err, /sesame|0123456789abc/);
    });

  it('GATEWAY_SERVER alone does not concern commands about files, and refuses those about stores', async () => {
    const line = commandLine(undefined, { GATEWAY_SERVER: 'https://g.example' });
    assert.equal((await line.run('help', 'keys')).code, 0);
    const { code, err } = await line.run('keys', 'export');
    assert.equal(code, 2);
    assert.match(err, /on the machine of the gateway, without GATEWAY_SERVER\./);
  });

  it('--key warns, without the key; --key-file and GATEWAY_KEY do not', async () => {
    const { server, runWith } = await lineTo(json(200, pageOf()));
    const at = (...words: string[]) => runWith({}, '--server', server.url, ...words, 'orgs', 'list');
    const { code, out, err } = await at(`--key=${KEY}`);
    assert.deepEqual([code, out], [0, 'None.\n']);
    assert.match(err, /^--key can be read by other users of this machine\. Put it into GATEWAY_KEY, or into a file/);
    assert.doesNotMatch(err, /0123456789abc/);
    assert.deepEqual(await at(), { code: 0, out: 'None.\n', err: '' });
    assert.deepEqual(await at('--key-file', join(temporaryKeys(), 'one')), { code: 0, out: 'None.\n', err: '' });
    assert.deepEqual(
      server.requests.map(({ headers: { authorization, 'user-agent': agent } }) => [authorization, agent]),
      Array.from({ length: 3 }, () => [`Bearer ${KEY}`, 'gateway/test']),
    );
  });

  it('the path of the address comes before the paths of the contract', async () => {
    const { server, runWith } = await lineTo(json(200, pageOf()));
    await runWith({}, '--server', `${server.url}/part/`, 'orgs', 'list');
    assert.equal(server.requests[0]?.url, '/part/gateway/v1/organizations?limit=100');
  });
});

function temporaryKeys(): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'one'), `${KEY}\n`);
  writeFileSync(join(directory, 'two'), `${KEY}\n${KEY}\n`);
  return directory;
}
