// `gateway upstreams try` against the sandbox and a sound service, which pass, and against services with every fault it looks for.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { createInstallation } from '../../support/process.ts';
import { type Answer, type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { failures, has, json, tryIt as tryDocument } from './try-line.ts';

const item = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'string', readOnly: true }, name: { type: 'string', minLength: 1, maxLength: 20 } },
};
const answered = (status: number, schema: object) => ({
  [status]: { description: 'x', content: { 'application/json': { schema } } },
});
const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const contract = JSON.stringify({
  openapi: '3.1.1',
  info: { title: 'Items', version: '1' },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } }, schemas: { Item: item } },
  security: [{ apiKey: ['items:read'] }],
  paths: {
    '/v1/items': {
      get: {
        operationId: 'listItems',
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 50, default: 20 } }],
        responses: answered(200, {
          type: 'object',
          required: ['data'],
          properties: { data: { type: 'array', items: item } },
        }),
      },
      post: {
        operationId: 'createItem',
        requestBody: { required: true, content: { 'application/json': { schema: item } } },
        responses: answered(201, item),
      },
    },
    '/v1/items/{id}': {
      parameters: [id],
      get: { operationId: 'getItem', responses: answered(200, item) },
      delete: { operationId: 'deleteItem', responses: { 204: { description: 'gone' } } },
    },
  },
});

const tryIt = (upstream: FakeUpstream, flags: readonly string[] = [], entry = '', document = contract) =>
  tryDocument(upstream, document, flags, entry);

/** A service as it should be. */
function soundService(items = new Map([['item_1', { id: 'item_1', name: 'first' }]])): Answer {
  const kept = new Map<string, { sent: string; made: object }>();
  return ({ method, url, headers, body }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://any');
    const refuse = (status: number, code: string) =>
      json(response, status, { error: { code, message: `No: ${code}.` } });
    if (pathname === '/v1/items' && method === 'GET') {
      if (!/^\d*$/.test(searchParams.get('limit') ?? '')) return refuse(400, 'bad_limit');
      return json(response, 200, { data: [...items.values()] });
    }
    if (pathname === '/v1/items' && method === 'POST') {
      const key = String(headers['idempotency-key']);
      const former = kept.get(key);
      if (former !== undefined && former.sent !== body.toString()) return refuse(422, 'key_reused');
      const made = { id: `item_${randomUUID()}`, ...JSON.parse(body.toString()) };
      if (former === undefined) {
        kept.set(key, { sent: body.toString(), made });
        items.set(made.id, made);
      }
      return json(response, 201, former?.made ?? made);
    }
    const found = items.get(pathname.replace('/v1/items/', ''));
    if (found === undefined) return refuse(404, 'not_there');
    if (method !== 'DELETE') return json(response, 200, found);
    items.delete(found.id);
    response.writeHead(204).end();
  };
}

describe('gateway upstreams try', () => {
  it('finds nothing that fails in the sandbox', async () => {
    const installation = createInstallation();
    const { code, stdout } = await installation.run('upstreams', 'try', 'platform');
    installation.remove();
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^platform at sandbox:platform, test, \d+ requests$/m);
    assert.match(stdout, /^ok {4}errors .*404, understood as error object\.$/m);
    assert.match(stdout, /^ok {4}idempotency +\w+: a repeated key is answered as it was the first time\.$/m);
    assert.doesNotMatch(stdout, /^fail/m);
  });

  it('finds no fault in a sound service, and leaves its records as they were', async () => {
    const items = new Map([['item_1', { id: 'item_1', name: 'first' }]]);
    const left = () => [...items.keys()];
    const upstream = await startUpstream(soundService(items));
    const told = await tryIt(upstream, ['--writes', '--org', 'org_acme'], '    honoursIdempotencyKey: true\n');
    assert.deepEqual([told.code, failures(told)], [0, []]);
    has(told, 'ok', /answers of 4 operations are as the contract says/);
    has(told, 'ok', /p50 \d+ ms, p99 \d+ ms of the 10000 ms/);
    const [first] = upstream.requests;
    assert.equal(first?.headers['x-organization-id'], 'org_acme');
    const [, claims = ''] = String(first?.headers['x-gateway-assertion']).split('.');
    const { aud, org } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    assert.deepEqual([aud, org], ['items', 'org_acme']);
    assert.ok(
      upstream.requests.some(({ url }) => url === '/v1/items?limit=50'),
      'borders are tried',
    );
    const deleted = upstream.requests.filter(({ method }) => method === 'DELETE').map(({ url }) => url);
    assert.ok(deleted.length > 0 && !deleted.includes('/v1/items/item_1'), deleted.join());
    has(told, 'ok', /^The trial created \d+ records? and left none behind\.$/);
    assert.equal(deleted.length, new Set(deleted).size);
    assert.deepEqual(left(), ['item_1']);
  });

  it('names the records that it cannot delete', async () => {
    const sound = soundService();
    const upstream = await startUpstream((request, response, raw) => {
      if (request.method === 'DELETE') json(response, 409, { error: { code: 'in_use', message: 'It is in use.' } });
      else sound(request, response, raw);
    });
    const told = await tryIt(upstream, ['--writes']);
    assert.equal(told.code, 0);
    has(told, 'warn', /^The trial leaves \d+ records? behind: \/v1\/items\/item_[0-9a-f-]+/);
  });

  it('says what clients do not get of the answers, and the line that lets it cross', async () => {
    const sound = soundService();
    const upstream = await startUpstream((request, response, raw) => {
      response.setHeader('set-cookie', 'basket=1; Path=/');
      response.setHeader('content-location', 'https://elsewhere.example/items');
      response.setHeader('x-basket', '7');
      sound(request, response, raw);
    });
    const told = await tryIt(upstream);
    assert.deepEqual([told.code, failures(told)], [0, []]);
    const warned = told.checks.filter(({ verdict, says }) => verdict === 'warn' && says.startsWith('Clients do not'));
    assert.deepEqual(
      warned.map(({ says, remedy }) => [says, /add (\w+: \[[\w-]+\])/.exec(remedy ?? '')?.[1]]),
      [
        ['Clients do not get content-location.', 'responseHeaders: [content-location]'],
        ['Clients do not get set-cookie: basket.', 'cookies: [basket]'],
        ['Clients do not get x-basket.', 'responseHeaders: [x-basket]'],
      ],
    );
  });

  it('sends forms, files and texts that fit the contract', async () => {
    const file = { type: 'string', format: 'binary' };
    const upload = {
      type: 'object',
      required: ['photo', 'title'],
      properties: { photo: file, title: item.properties.name },
    };
    const search = {
      type: 'object',
      required: ['text', 'filter'],
      properties: {
        text: { type: 'string', enum: ['a b'] },
        filter: { type: 'object', required: ['n'], properties: { n: { type: 'integer', minimum: 3 } } },
      },
    };
    const contents = {
      bytes: { 'application/octet-stream': {} },
      photo: { 'image/png': { schema: file } },
      anything: { '*/*': {} },
      text: { 'text/plain': { example: 'a text' } },
      form: { 'application/x-www-form-urlencoded': { schema: search } },
      upload: { 'multipart/form-data': { schema: upload, encoding: { photo: { contentType: 'image/png' } } } },
    };
    const paths = Object.entries(contents).map(([name, content]) => [
      `/v1/${name}`,
      { post: { operationId: name, requestBody: { required: true, content }, responses: answered(201, {}) } },
    ]);
    const { paths: items, ...others } = JSON.parse(contract) as { paths: object };
    const document = JSON.stringify({ ...others, paths: { ...items, ...Object.fromEntries(paths) } });
    const sound = soundService();
    const upstream = await startUpstream((request, response, raw) =>
      request.url.startsWith('/v1/items') || request.method !== 'POST'
        ? sound(request, response, raw)
        : json(response, 201, {}),
    );
    const told = await tryIt(upstream, ['--writes'], '', document);
    assert.deepEqual(failures(told), []);
    const sent = (name: string) => {
      const { headers, body } = upstream.requests.find(({ url }) => url === `/v1/${name}`) ?? assert.fail(name);
      return [headers['content-type'], body.toString('latin1')] as const;
    };
    assert.deepEqual(sent('bytes'), ['application/octet-stream', 'example']);
    assert.deepEqual(sent('anything'), ['application/octet-stream', 'example']);
    assert.match(sent('photo').join(), /^image\/png,\x89PNG/);
    assert.deepEqual(sent('text'), ['text/plain', 'a text']);
    assert.deepEqual(sent('form'), ['application/x-www-form-urlencoded', 'text=a+b&filter%5Bn%5D=3']);
    const [type, body] = sent('upload');
    assert.equal(type, 'multipart/form-data; boundary=gateway-try');
    assert.match(
      body,
      /^--gateway-try\r\nContent-Disposition: form-data; name="photo"; filename="example"\r\nContent-Type: image\/png\r\n\r\n\x89PNG/,
    );
    assert.match(
      body,
      /\r\n--gateway-try\r\nContent-Disposition: form-data; name="title"\r\n\r\n[^\r]+\r\n--gateway-try--\r\n$/,
    );
  });

  it('reports drift from the contract, errors without a message, and headers that reveal too much', async () => {
    const upstream = await startUpstream(({ method, url, headers }, response) => {
      const more = {
        'x-gateway-seen': String(headers['x-gateway-assertion']),
        'set-cookie': 'a=b',
        'x-process-time': '7',
        location: 'https://elsewhere.example/',
        'x-powered-by': 'X',
      };
      if (method === 'POST') return json(response, 202, { id: 'item_9', name: 'x' }, more);
      if (url.startsWith('/v1/items?')) return json(response, 200, { data: [{ id: 'item_1', name: 7 }] }, more);
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome</p>');
    });
    const told = await tryIt(upstream, ['--writes']);
    assert.equal(told.code, 1);
    has(told, 'fail', /^listItems: 200 with a wrong body: \/data\/0\/name: wrong_type/);
    has(told, 'warn', /^createItem: it answers with status 202; the contract declares 201; to declare it, add "202": /);
    has(
      told,
      'warn',
      /^getItem: it answers with status 200 with text\/html; the contract declares application\/json; look at the service, .*; otherwise, to declare it, add /,
    );
    has(told, 'fail', /^What is not there is answered with 200/);
    has(told, 'fail', /^An unknown path is answered with 200/);
    has(told, 'fail', /^It echoes the assertion or the credential/);
    has(told, 'fail', /internal headers: x-gateway-seen/);
    has(told, 'ok', /^It answers with x-powered-by, which the gateway drops\.$/);
    for (const [field, remedy] of [
      ['set-cookie: a', /add cookies: \[a\] to the entry/],
      ['x-process-time', /add responseHeaders: \[x-process-time\] to the entry/],
      ['location', /add responseHeaders: \[location\] to the entry/],
    ] as const) {
      const finding = told.checks.find(({ says }) => says === `Clients do not get ${field}.`);
      assert.equal(finding?.verdict, 'warn', field);
      assert.match(finding?.remedy ?? '', remedy);
    }
    has(told, 'warn', /^A wrong parameter is answered with 200/);
    has(told, 'ok', /^It declares nothing, so .* a key whose outcome is unknown is refused from then on\.$/);
  });

  it('reports failures, errors of another form, Idempotency-Keys that are not honoured, and closed connections', async () => {
    let made = 0;
    const upstream = await startUpstream(({ method, url }, response) => {
      response.setHeader('connection', 'close');
      if (method === 'POST') return json(response, 201, { id: `item_${made++}`, name: 'x' });
      if (url.includes('not-a-number')) return json(response, 400, { reason: 'limit' });
      if (url.startsWith('/v1/items?')) return json(response, 500, {});
      response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Not found</p>');
    });
    const told = await tryIt(upstream, ['--writes'], '    honoursIdempotencyKey: true\n');
    assert.equal(told.code, 1);
    has(told, 'fail', /^listItems: it answers 500 to a request that is as the contract says/);
    has(told, 'fail', /^createItem: a repeated key is answered otherwise/);
    has(told, 'fail', /^createItem: a key with another body is answered with 201/);
    has(told, 'fail', /^What is not there is answered with 404 in a form that is not understood/);
    has(told, 'warn', /^\d+ connections for \d+ requests/);
    has(told, 'warn', /^getItem was only refused \(404\)/);
  });

  it('names an operation that the service does not have, as opposed to one that it refuses', async () => {
    const refuse = (path: string) => ({ status: 404, time: randomUUID(), message: `Cannot GET ${path}` });
    const lacking = await tryIt(await startUpstream(({ url }, response) => json(response, 404, refuse(url))));
    has(lacking, 'warn', /^listItems: the service has no GET \/v1\/items\. It answers 404 as to an unknown path\.$/);
    assert.ok(!lacking.checks.some(({ says }) => /^listItems(: it answers| was only)/.test(says)));
    const refusing = await tryIt(
      await startUpstream(({ url }, response) =>
        json(response, 404, url.startsWith('/v1') ? { message: 'No item yet' } : refuse(url)),
      ),
    );
    has(refusing, 'warn', /^listItems: it answers 404 to a request that is as the contract says/);
  });

  it('says after which request the service has stopped', async () => {
    const upstream = await startUpstream(({ method, url }, response, raw) => {
      if (method === 'HEAD') {
        raw.socket.destroy();
        return void upstream.close();
      }
      if (url.startsWith('/v1/items?')) return json(response, 200, { data: [] });
      json(response, 404, { message: 'Not there' });
    });
    const told = await tryIt(upstream);
    const [first] = told.checks;
    assert.match(first?.says ?? '', /^The service has stopped after HEAD \/v1\/items\?limit=\d+\.$/);
    assert.equal(first?.verdict, 'fail');
  });

  it('reports keyed writes that may run twice', async () => {
    const told = await tryIt(await startUpstream(soundService()), [], '    whenOutcomeUnknown: run\n');
    assert.equal(told.code, 0);
    has(told, 'warn', /^whenOutcomeUnknown: run lets a write with an Idempotency-Key run twice/);
  });

  it('reports connections that break and answers that come too late, and writes only with --writes', async () => {
    const upstream = await startUpstream((request, response, raw) => {
      if (request.method === 'GET' && request.url.startsWith('/v1/items/')) return;
      if (request.url.includes('limit=50')) return void raw.socket.destroy();
      json(response, 200, { data: [] });
    });
    const told = await tryIt(upstream, [], '    timeoutMs: 300\n');
    assert.equal(told.code, 1);
    has(told, 'fail', /^getItem: no answer \(no answer within 300 ms\)/);
    has(told, 'fail', /^listItems: no answer \((the connection ended before the answer was whole|ECONNRESET)\)/);
    has(told, 'fail', /requests? were not answered in time/);
    has(told, 'fail', /exchanges broke, the first with/);
    assert.deepEqual([...new Set(upstream.requests.map(({ method }) => method))].sort(), ['GET', 'HEAD']);
    has(told, 'warn', /^createItem, deleteItem were not tried: writes need --writes/);
  });

  it('stops after the first request to a service that hangs', async () => {
    const upstream = await startUpstream(() => undefined);
    const told = await tryIt(upstream, ['--writes'], '    timeoutMs: 300\n');
    assert.equal(told.code, 1);
    assert.equal(upstream.requests.length, 1);
    assert.deepEqual(failures(told), [
      'listItems: no answer within 300 ms. The trial ends with this first request, because each other one would wait as long.',
    ]);
  });

  it('stops at once where the service rejects the gateway', async () => {
    const upstream = await startUpstream((_request, response) => json(response, 401, { message: 'Who?' }));
    const told = await tryIt(upstream, ['--writes']);
    assert.equal(told.code, 1);
    assert.equal(upstream.requests.length, 1);
    has(told, 'fail', /^listItems: it refuses the gateway \(401\), and its entry sends no credential\.$/);
    const remedies = told.checks.map(({ remedy }) => remedy).join('\n');
    assert.match(
      remedies,
      /Add `credential: \{ bearer: \{ secret: items_token \} \}` to upstreams\.items in upstreams\.yaml/,
    );
    assert.doesNotMatch(JSON.stringify(told.checks), /was only refused|orrect the credential/);
  });

  it('says which secret to correct where the service rejects the credential', async () => {
    const upstream = await startUpstream((_request, response) => json(response, 401, { message: 'Who?' }));
    const entry = '    credential: { bearer: { secret: items_token } }\n';
    const told = await tryDocument(upstream, contract, [], entry, { ITEMS_TOKEN: 'a-former-token' });
    has(told, 'fail', /^listItems: it refuses the gateway \(401\)\.$/);
    assert.match(JSON.stringify(told.checks), /Correct the secret `items_token`/);
    assert.doesNotMatch(JSON.stringify(told.checks), /was only refused/);
  });

  it('ends with 1 and reports the number of failed checks', async () => {
    const upstream = await startUpstream((_request, response) => json(response, 401, { message: 'Who?' }));
    const installation = createInstallation();
    const flags = ['--target', upstream.url, '--requests', '3'];
    const { code, stdout, stderr } = await installation.run('upstreams', 'try', 'platform', ...flags);
    await upstream.close();
    assert.equal(code, 1);
    assert.match(stdout, /^platform at http:\/\/127\.0\.0\.1:\d+, live, 1 request$/m);
    assert.match(stdout, /^fail {2}contract +\w+: it refuses the gateway \(401\)/m);
    assert.match(stderr, /^gateway: platform failed 1 of \d+ checks\.$/m);
    const absent = await installation.run('upstreams', 'try', 'platform', '--target', upstream.url);
    assert.deepEqual([absent.code, absent.stdout], [1, '']);
    assert.match(
      absent.stderr,
      /^gateway: platform: nothing listens at http:\/\/127\.0\.0\.1:\d+\. Start the service, or name where it is with --target\.\n$/,
    );
    installation.remove();
  });

  it('prints its usage where it is called wrongly', async () => {
    const installation = createInstallation();
    const unknown = await installation.run('upstreams', 'try', 'platfrom');
    installation.remove();
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /no upstream "platfrom"\. Did you mean "platform"/);
  });
});
