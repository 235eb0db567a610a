// `gateway init --from` takes a running service to its first 200 without an editor, and changes nothing else.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import { lockDirectory } from '../../../gateway/shared/stores/sqlite.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startInProcess } from '../../support/in-process.ts';
import { createInstallation } from '../../support/process.ts';
import { startUpstream } from '../../support/upstream.ts';

const json = { 'content-type': 'application/json' };
const content = { 'application/json': { schema: {} } };
const books = {
  openapi: '3.1.0',
  info: { title: 'Book Shop API', version: '1' },
  paths: {
    '/health': { get: { operationId: 'health', responses: { 200: { description: 'Well', content } } } },
    '/books': {
      get: { operationId: 'list_books', responses: { 200: { description: 'All', content } } },
      post: {
        operationId: 'add_book',
        requestBody: { content: { 'application/json': { schema: { type: 'object', required: ['title'] } } } },
        responses: { 201: { description: 'Added', content } },
      },
    },
    '/books/{id}': {
      get: {
        operationId: 'get_book',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        responses: { 200: { description: 'One', content } },
      },
    },
  },
};

const start = closesAfterAll();
const service = await start(
  startUpstream(({ url, method }, response) => {
    if (url === '/openapi.json') response.writeHead(200, json).end(JSON.stringify(books));
    else if (url === '/health' || url?.startsWith('/books/')) response.writeHead(200, json).end('{}');
    else if (url?.startsWith('/books')) response.writeHead(method === 'POST' ? 201 : 200, json).end('[{"id":1}]');
    else if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Books</h1>');
    else response.writeHead(404, json).end('{"detail":"Not Found"}');
  }),
);
const origin = service.url;
const { url: undocumented } = await start(startUpstream((_request, response) => response.writeHead(404).end('none')));

describe('gateway init --from', () => {
  const directory = temporaryDirectory();
  const made = join(directory, 'made');
  const installation = createInstallation({ GATEWAY_CONFIG: made, GATEWAY_CONTRACTS: join(made, 'openapi') });
  const upstreams = () => readFileSync(join(made, 'upstreams.yaml'), 'utf8');

  after(() => installation.remove());

  it('finds the document below the address of the service, and writes a configuration that serves it', async () => {
    const { code, stdout, stderr } = await installation.run('init', made, '--from', origin);
    assert.equal(code, 0, stdout + stderr);
    assert.match(upstreams(), new RegExp(`book-shop:\n    contracts: \\[book-shop\\.json\\]\n    live: ${origin}\n`));
    assert.match(upstreams(), /^ {4}health: \{ path: "\/health" \}\n(?! {4}#)/m);
    assert.match(
      stdout,
      new RegExp(
        `^No mistakes[^:]*: 4 operations in 1 contract \\(and 37 of the gateway itself\\), from ${made}\\.$`,
        'm',
      ),
    );
    // The service publishes it on one line, on which every mistake would be.
    assert.equal(readFileSync(join(made, 'openapi/book-shop.json'), 'utf8'), `${JSON.stringify(books, null, 2)}\n`);
    assert.match(stdout, /^ {2}bin\/gateway orgs create --id org_first /m);
    assert.doesNotMatch(stdout, /Keys from before/);
    assert.match(
      stdout,
      /^It is named after the document\. A name of your own: portal\.title in \S+made\/gateway\.yaml$/m,
    );
    assert.match(
      stdout,
      /curl -i --retry 30 --retry-delay 1 --retry-max-time 15 --retry-connrefused 'http:\/\/localhost:8080\/books' -H "Authorization: Bearer \$KEY"/,
    );

    await installation.run('orgs', 'create', '--id', 'org_first', '--name', 'First', '--tier', 'standard');
    const scopes = ['book-shop:read', 'book-shop:write'];
    const issued = await installation.run(
      'keys',
      'create',
      '--org',
      'org_first',
      '--mode',
      'live',
      '--scopes',
      ...scopes,
      '--json',
    );
    const { key } = JSON.parse(issued.stdout) as { key: string };
    const running = await startInProcess(installation.environment);
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`http://127.0.0.1:${running.port}/books`, { headers });
    assert.deepEqual([answer.status, await answer.json()], [200, [{ id: 1 }]]);
    const written = await fetch(`http://127.0.0.1:${running.port}/books`, {
      method: 'POST',
      headers: { ...headers, ...json },
      body: '{"title":"x"}',
    });
    assert.equal(written.status, 201);
    await running.stop();
  });

  it('adds a second service beside the first, with a prefix where paths collide, and keeps comments', async () => {
    writeFileSync(join(made, 'upstreams.yaml'), `${upstreams()}  # Kept.\n`);
    const { code, stdout, stderr } = await installation.run(
      'init',
      '--from',
      `${origin}/openapi.json`,
      '--name',
      'attic',
      '--json',
    );
    assert.equal(code, 0, stdout + stderr);
    const { entry } = JSON.parse(stdout);
    assert.deepEqual([entry.basePath, entry.operationNames], ['/attic', 'qualified']);
    assert.match(upstreams(), /book-shop:[\s\S]*attic:/);
    assert.match(upstreams(), /# Kept\./);
    assert.equal((await installation.run('check')).code, 0);
  });

  it('prints a key that can be made, for a service that only reads', async () => {
    const file = join(directory, 'shelf.json');
    const { get } = books.paths['/books'];
    writeFileSync(file, JSON.stringify({ ...books, servers: [{ url: origin }], paths: { '/shelf': { get } } }));
    const { stdout } = await installation.run('init', '--from', file, '--name', 'shelf');
    const printed = [...stdout.matchAll(/ --mode (live|test) --name '([^']*)' --scopes (\S.*?) --print key\)?$/gm)];
    assert.deepEqual(
      printed.map(([, ...words]) => words),
      [
        ['live', 'Live key for shelf', 'shelf:read'],
        ['test', 'Test key for shelf', 'shelf:read'],
        ['live', 'Account page', 'shelf:read gateway:read gateway:keys'],
      ],
    );
    for (const [, mode = '', name = '', scopes = ''] of printed) {
      const key = ['--org', 'org_first', '--mode', mode, '--name', name, '--scopes', ...scopes.split(' ')];
      const made = await installation.run('keys', 'create', ...key, '--print', 'key');
      assert.match(made.stdout, /^sk_\w+\n$/, made.stderr);
    }
    assert.doesNotMatch(stdout, /orgs create/);
    assert.match(
      stdout,
      /^Keys from before get 403 from this service, because they lack shelf:read\. .*keys scopes KEY_ID --add shelf:read$/m,
    );
    assert.match(stdout, /^ {2}echo "http:\/\/localhost:8080\/docs#key=\$TEST_KEY"$/m);
    assert.match(
      stdout,
      /^The account page http:\/\/localhost:8080\/docs\/account takes a key that may make others\. /m,
    );
    assert.doesNotMatch(stdout, /A gateway that keeps its data in/);
  });

  it('says to stop a gateway that runs on the data directory, before the lines that it would refuse', async () => {
    const release = lockDirectory(installation.environment.GATEWAY_DATA ?? '');
    const here = await installation.run('init', '--from', `${origin}/openapi.json`, '--name', 'cellar');
    const elsewhere = await installation.run('init', join(directory, 'elsewhere'), '--from', origin);
    release();
    assert.match(here.stdout, /^A gateway that keeps its data in \S+ is running\. If it has this configuration, /m);
    assert.doesNotMatch(here.stdout, /gateway start &/);
    assert.match(
      elsewhere.stdout,
      /is running\. It has another configuration: stop it first, .*\nThe first request:$/m,
    );
    assert.match(elsewhere.stdout, /gateway start &/);
  });

  it('takes a file whose servers name the address', async () => {
    const file = join(directory, 'tools.yaml');
    writeFileSync(
      file,
      'openapi: 3.0.3\ninfo: { title: Tools, version: "1" }\nservers: [{ url: "http://tools.internal:3000" }]\npaths:\n  /tools:\n    get:\n      operationId: listTools\n      responses: { "200": { description: All } }\n',
    );
    const { code, stdout, stderr } = await installation.run('init', '--from', file, '--json');
    assert.equal(code, 0, stdout + stderr);
    assert.equal(JSON.parse(stdout).entry.live, 'http://tools.internal:3000');
    assert.ok(existsSync(join(made, 'openapi', 'tools.yaml')));
  });

  it('fetches the document of an entry again: shows what changes, and writes what breaks clients with --force only', async () => {
    const file = join(directory, 'shelf.json');
    const kept = join(made, 'openapi', 'shelf.json');
    const shelf = (members: object) =>
      writeFileSync(file, JSON.stringify({ ...books, servers: [{ url: origin }], ...members }));
    const update = (...words: string[]) =>
      installation.run('init', '--from', file, '--name', 'shelf', '--update', ...words);
    const { get } = books.paths['/books'];
    const before = readFileSync(kept, 'utf8');
    const entry = upstreams();
    assert.match((await update()).stdout, /shelf\.json is as the service publishes it\.$/m);

    shelf({ paths: { '/shelf': { get }, '/shelf/new': { get: { ...get, operationId: 'new_books' } } } });
    const grown = await update();
    assert.equal(grown.code, 0, grown.stderr);
    assert.match(grown.stdout, /^GET \/shelf\/new\n {2}additive: the operation is new\.\nwrote .*shelf\.json\n$/m);
    assert.deepEqual(JSON.parse(readFileSync(kept, 'utf8')), JSON.parse(readFileSync(file, 'utf8')));
    // Another layout is no change.
    writeFileSync(file, JSON.stringify(JSON.parse(readFileSync(file, 'utf8')), null, 7));
    assert.match((await update()).stdout, /shelf\.json is as the service publishes it\.$/m);

    const wide = readFileSync(kept, 'utf8');
    shelf({ paths: { '/shelf': { get } } });
    const broken = await update();
    assert.equal(broken.code, 1);
    assert.match(
      broken.stdout,
      /^GET \/shelf\/new \(not called in the last 30 days\)\n {2}breaking: the operation was removed\.$/m,
    );
    assert.match(broken.stderr, /1 breaking change: nothing was written\. Use --force/);
    assert.equal(readFileSync(kept, 'utf8'), wide);
    const { written, changes } = JSON.parse((await update('--force', '--json')).stdout);
    assert.deepEqual([written, changes.length], [true, 1]);
    assert.equal(JSON.parse(readFileSync(kept, 'utf8')).paths['/shelf/new'], undefined);

    writeFileSync(file, '{"openapi":"3.1.0","info":{"title":"Shelf","version":"1"},"paths":{"/a":{"get":7}}}');
    assert.notEqual((await update()).code, 0);
    assert.equal(upstreams(), entry);
    writeFileSync(kept, before);
    for (const words of [
      ['--name', 'nobody'],
      ['--name', 'gateway'],
    ]) {
      const { code, stderr } = await installation.run('init', '--from', `${origin}/openapi.json`, '--update', ...words);
      assert.equal(code, 1);
      assert.match(stderr, /has no entry "nobody" to update|has more than one contract/);
    }
    assert.equal((await installation.run('init', '--update')).code, 2);
  });

  it('makes promises with the first publication, in the place that init has made for them', async () => {
    const { code, stdout, stderr } = await installation.run('contract', 'publish');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /published\/book-shop\.json: promised, 4 operations of book-shop\.$/m);
    const record = readFileSync(join(made, 'openapi/published/changes.jsonl'), 'utf8').trim().split('\n');
    assert.ok(record.some((line) => JSON.parse(line).contract === 'book-shop'));
  });

  it('adds to a file in JSON, and loses nothing', async () => {
    const own = join(directory, 'json');
    const other = createInstallation({ GATEWAY_CONFIG: own, GATEWAY_CONTRACTS: join(own, 'openapi') });
    assert.equal((await other.run('init', own, '--from', `${origin}/openapi.json`, '--name', 'first')).code, 0);
    const path = join(own, 'upstreams.yaml');
    writeFileSync(path, JSON.stringify(parse(readFileSync(path, 'utf8')), null, 2));
    const { code, stdout, stderr } = await other.run('init', '--from', `${origin}/openapi.json`, '--name', 'second');
    other.remove();
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^No mistakes[^:]*: 8 operations/m);
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(path, 'utf8')).upstreams), ['gateway', 'first', 'second']);
  });

  it('writes nothing where upstreams.yaml cannot take an entry', async () => {
    const path = join(made, 'upstreams.yaml');
    const earlier = upstreams();
    for (const text of ['upstreams: [\n', 'upstreams: [a]\n']) {
      writeFileSync(path, text);
      const { code, stderr } = await installation.run('init', '--from', `${origin}/openapi.json`, '--name', 'lost');
      assert.equal(code, 1);
      assert.match(
        stderr,
        /no entry can be added, and nothing was written.*"gateway check".*\{"lost":\{"contracts":\["lost\.json"\]/,
      );
      assert.equal(upstreams(), text);
      assert.ok(!existsSync(join(made, 'openapi', 'lost.json')));
    }
    writeFileSync(path, earlier);
  });

  const refused: Readonly<Record<string, { words: () => string[]; says: RegExp; code: number }>> = {
    'a name that is taken': {
      words: () => ['--from', origin],
      says: /has an entry "book-shop" already\. Choose another name with --name, or fetch its document again with --update\./,
      code: 1,
    },
    'an address without a document': {
      words: () => ['--from', `${undocumented}/books`],
      says: /has no OpenAPI document .*below it and below http.*\/openapi\.json.*\/swagger\/doc\.json.*Give the URL of the document\./,
      code: 1,
    },
    'the address of its page of documentation, which leads to the document': {
      words: () => ['--from', `${origin}/docs`],
      says: /has an entry "book-shop" already\./,
      code: 1,
    },
    'an address that refuses connections': {
      words: () => ['--from', 'http://127.0.0.1:9'],
      says: /^gateway: Nothing listens at http:\/\/127\.0\.0\.1:9\. Start the service first\.\n$/,
      code: 1,
    },
    'a file that is missing': {
      words: () => ['--from', join(directory, 'none.yaml')],
      says: /none\.yaml cannot be read \(ENOENT\)\./,
      code: 1,
    },
    'an address without its scheme': {
      words: () => ['--from', new URL(origin).host],
      says: /has an entry "book-shop" already\./,
      code: 1,
    },
    'a document that names no address': {
      words: () => {
        const file = join(directory, 'nowhere.json');
        writeFileSync(file, JSON.stringify({ ...books, info: { title: 'Nowhere', version: '1' } }));
        return ['--from', file];
      },
      says: /names no address of the service\. Give it with --live http:\/\/host:port\./,
      code: 2,
    },
  };
  for (const [what, { words, says, code }] of Object.entries(refused)) {
    it(`writes nothing for ${what}`, async () => {
      const earlier = upstreams();
      const finished = await installation.run('init', ...words());
      assert.equal(finished.code, code, finished.stdout);
      assert.match(finished.stderr, says);
      assert.equal(upstreams(), earlier);
    });
  }

  it('--empty leaves the sandbox and its example out', async () => {
    const empty = join(directory, 'empty');
    assert.equal((await installation.run('init', empty, '--empty')).code, 0);
    const text = readFileSync(join(empty, 'upstreams.yaml'), 'utf8');
    assert.doesNotMatch(text, /sandbox/);
    const other = createInstallation({ GATEWAY_CONFIG: empty, GATEWAY_CONTRACTS: join(empty, 'openapi') });
    const checked = await other.run('check', '--json');
    other.remove();
    const { ok, operations, contracts, mistakes, warnings, unenforced } = JSON.parse(checked.stdout);
    assert.deepEqual([ok, operations, contracts], [true, 37, 2]);
    assert.deepEqual([mistakes, warnings, unenforced], [[], [], []]);
  });

  describe('of a service that asks for a key', () => {
    const kept = {
      ...books,
      info: { title: 'Kept' },
      components: { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'X-Kept-Key' } } },
    };
    const key = `key-${process.pid}`;
    const guarded = createServer(({ url, headers }, response) => {
      if (url === '/openapi.json') response.writeHead(200, json).end(JSON.stringify(kept));
      else if (headers['x-kept-key'] === key) response.writeHead(200, json).end(url === '/books' ? '[{"id":1}]' : '[]');
      else response.writeHead(401, json).end('{"detail":"No key"}');
    });

    it('says what to do, and serves it with the line that it has written', async () => {
      guarded.listen(0, '127.0.0.1');
      await once(guarded, 'listening');
      const place = join(directory, 'kept');
      const address = `http://127.0.0.1:${(guarded.address() as AddressInfo).port}`;
      const { stdout } = await installation.run('init', place, '--from', address);
      const file = join(place, 'upstreams.yaml');
      const [, line = ''] = /^ {4}# (credential: .*)$/m.exec(readFileSync(file, 'utf8')) ?? [];
      assert.match(line, /^credential: \{ apiKey: \{ header: X-Kept-Key, secret: kept_key \} \}/);
      assert.match(
        stdout,
        /^The service asks for a key in X-Kept-Key\. To let the gateway send it:\n {2}1\. Uncomment/m,
      );
      // A health check that fails already would take the service out.
      assert.match(readFileSync(file, 'utf8'), /^ {4}# health: \{ path: \/health \}/m);
      writeFileSync(file, readFileSync(file, 'utf8').replace(`# ${line}`, line));
      const other = createInstallation({
        GATEWAY_CONFIG: place,
        GATEWAY_CONTRACTS: join(place, 'openapi'),
        KEPT_KEY: key,
      });
      const tried = await other.run('upstreams', 'try', 'kept');
      other.remove();
      guarded.close();
      guarded.closeAllConnections();
      assert.match(tried.stdout, /^ok +contract .* as the contract says/m, tried.stdout);
      assert.ok(!(stdout + tried.stdout).includes(key));
    });
  });

  describe('of a service with a public operation and others that need a key', () => {
    const { get, post } = books.paths['/books'];
    const key = { type: 'apiKey', in: 'header', name: 'X-Depot-Key' };
    const basic = { type: 'http', scheme: 'basic' };
    const query = { type: 'apiKey', in: 'query', name: 'depot_key' };
    const depot = (paths: object, security: object) => ({
      ...books,
      info: { title: 'Depot', version: '1' },
      components: { securitySchemes: { key, basic, query } },
      security: [security],
      paths: { '/healthz': { get: { ...get, operationId: 'alive', security: [] } }, ...paths },
    });
    let document: object = {};

    async function added(name: string, paths: object, isFile = false, security: object = { key: [] }) {
      const guarded = await startUpstream(({ url }, response) => {
        if (url === '/openapi.json') response.writeHead(200, json).end(JSON.stringify(document));
        else response.writeHead(url === '/healthz' || url === '/open' ? 200 : 401, json).end('{"is":"here"}');
      });
      document = depot(paths, security);
      const file = join(directory, `${name}.json`);
      if (isFile) writeFileSync(file, JSON.stringify({ ...document, servers: [{ url: guarded.url }] }));
      if (isFile) await guarded.close();
      const { stdout } = await installation.run('init', join(directory, name), '--from', isFile ? file : guarded.url);
      if (!isFile) await guarded.close();
      return stdout;
    }

    it('prints a first request that tries the credential, and names operations that are public only in the document', async () => {
      const stdout = await added('depot', { '/stock': { get } });
      assert.match(stdout, /^The service asks for a key in X-Depot-Key\./m);
      assert.match(stdout, /curl -i [^']*'http:\/\/localhost:8080\/stock' -H/);
      assert.doesNotMatch(stdout, /does not try it/);
      assert.match(
        stdout,
        /^GET \/healthz is public in the document, and needs a key here\. To keep it public, write "x-gateway-public: true" into the operation in \S+depot\.json; to leave it out, write operations: \{ "alive": \{ serve: false \} \} into the entry depot\.$/m,
      );
    });

    it('proposes both credentials of a document that requires them at once, and says what it cannot send', async () => {
      const stdout = await added('both', { '/stock': { get } }, false, { key: [], basic: [] });
      const text = readFileSync(join(directory, 'both', 'upstreams.yaml'), 'utf8');
      assert.match(
        text,
        /^ {4}# credential: \{ headers: \{ names: \[X-Depot-Key, Authorization\], secret: depot_headers \} \} #/m,
      );
      assert.match(stdout, /^The service asks for a key in X-Depot-Key, and at once for a user name and a password\./m);
      assert.match(
        stdout,
        /export DEPOT_HEADERS=\$'X-Depot-Key: …\\nAuthorization: Basic BASE64_OF_USER:PASSWORD' before/,
      );
      assert.match(
        await added('query', { '/stock': { get } }, true, { query: [] }),
        /^By its document, the service asks for a key in the query, depot_key, which the gateway cannot send\. The gateway sends credentials in headers,/m,
      );
    });

    it('says that no read needs the credential, if none does', async () => {
      const stdout = await added('drop', { '/open': { get: { ...get, security: [{}] }, post } });
      assert.match(stdout, /^By its document, the service asks for a key in X-Depot-Key\./m);
      assert.match(stdout, /^The first request below does not try it: no operation that only reads needs it\.$/m);
      assert.match(stdout, /^GET \/healthz, GET \/open are public in the document, and need a key here\./m);
    });

    it('prints the steps for the credential of a service that is away, too', async () => {
      const stdout = await added('away', { '/stock': { get } }, true);
      assert.match(
        stdout,
        /^By its document, the service asks for a key in X-Depot-Key\..*\n {2}1\. Uncomment .*\n {2}2\. export DEPOT_KEY=/m,
      );
      assert.match(stdout, /curl -i [^']*'http:\/\/localhost:8080\/stock' -H/);
    });
  });

  describe('of a service made with Django', () => {
    const list = (description: string) => ({
      get: { operationId: description, responses: { 200: { description, content } } },
    });
    const document = {
      openapi: '3.0.3',
      info: { title: 'Polls', version: '0.0.0' },
      paths: {
        '/api/archive/': list('archive'),
        '/api/broken/': list('broken'),
        '/api/polls/': list('polls'),
        "/api/x';touch oops;'/": list('quoted'),
      },
    };
    const onConnection = new WeakMap<Socket, number>();
    let closed = 0;
    const django = createServer((request, response) => {
      const { url = '', socket } = request;
      const count = (onConnection.get(socket) ?? 0) + 1;
      onConnection.set(socket, count);
      if (url === '/api/schema/') response.writeHead(200, json).end(JSON.stringify(document));
      // Each second request of a connection comes when the service has just closed it.
      else if (count % 2 === 0 && url.startsWith('/api/')) {
        closed += 1;
        socket.destroy();
      } else if (url === '/api/archive/')
        response.writeHead(200, json).end(JSON.stringify(Array.from({ length: 900 }, String)));
      else if (url === '/api/polls/') response.writeHead(200, json).end('[{"id":1}]');
      else response.writeHead(url.startsWith('/api/x') ? 200 : 404, json).end(`{"detail":"Not ${'x'.repeat(99)}"}`);
    });

    it('finds the document, asks again where a kept connection was closed, and prints a request that has succeeded', async () => {
      django.listen(0, '127.0.0.1');
      await once(django, 'listening');
      const polls = join(directory, 'polls');
      const address = `http://127.0.0.1:${(django.address() as AddressInfo).port}`;
      const { stdout, stderr } = await installation.run('init', polls, '--from', address);
      django.close();
      django.closeAllConnections();
      assert.match(stdout, /^No mistakes[^:]*: 4 operations/m, stdout + stderr);
      assert.ok(closed > 0);
      assert.doesNotMatch(stdout, /exchanges broke|no answer/);
      assert.match(stdout, /curl -i [^']*'http:\/\/localhost:8080\/api\/polls\/' -H/);
    });

    it('prints no command of the document', async () => {
      const file = join(directory, 'quoted.json');
      const paths = { "/api/x';touch oops;'/": document.paths["/api/x';touch oops;'/"] };
      writeFileSync(file, JSON.stringify({ ...document, paths, servers: [{ url: 'http://127.0.0.1:9' }] }));
      const { stdout } = await installation.run('init', join(directory, 'quoted'), '--from', file);
      assert.match(stdout, /'http:\/\/localhost:8080\/api\/x%27;touch%20oops;%27\/' -H/);
    });
  });
});
