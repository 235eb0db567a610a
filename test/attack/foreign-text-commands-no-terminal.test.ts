// Documents, services and clients choose text that commands print. A terminal obeys control characters in it: it overwrites lines, sets the
// clipboard, answers as if the operator had typed. Characters that turn the direction of text make a line read as another one.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { environmentOf, writeConfiguration } from '../support/configuration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { runInProcess, tryStartInProcess } from '../support/in-process.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';

const root = temporaryDirectory();

/** Colours, cursor, title, clipboard; one-byte forms of C1; backspace, bell, delete, carriage return; direction; separators; tags. */
const EVIL =
  '\x1b[2J\x1b[31m\x1b]0;t\x07\x1b]52;c;ZWNobyBoaQ==\x07\x9b31m\x9d0;t\x9c\b\b\x7f\r\u202egnp.\u2066\u2069\u200e\u2028\u2029\u{e0041}';
/** A line of its own that says the opposite. */
const FORGED = '\nNo mistakes: 9 operations in 9 contracts.';
const evil = `x${EVIL}${FORGED}`;
const commanding = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

function assertHarmless({ stdout, stderr }: Printed, what: string): void {
  for (const text of [stdout, stderr]) {
    const found = commanding.exec(text);
    assert.equal(
      found,
      null,
      `${what}: ${JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 80)).slice(0, 160))}`,
    );
  }
  assert.doesNotMatch(stdout + stderr, /^No mistakes: 9/m, what);
}

/** That the text was printed at all: otherwise nothing was tried. */
function assertShown({ stdout, stderr }: Printed, what: string): void {
  assert.match(stdout + stderr, /x\\u001b\[2J\\u001b\[31m/, what);
}

type Members = Readonly<Record<string, unknown>>;

const ok = { description: 'fine', content: { 'application/json': { schema: { type: 'object' } } } };
const operation = (members: Members = {}) => ({ operationId: 'list_things', responses: { 200: ok }, ...members });
const documentOf = (paths: Members, members: Members = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  security: [{ apiKey: ['things:read'] }],
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  paths,
  ...members,
});

function written(document: object | string, live = 'http://127.0.0.1:9') {
  const directory = mkdtempSync(join(root, 'written-'));
  writeConfiguration(directory, {
    contracts: { 'things.json': document },
    upstreams: { things: { contracts: ['things.json'], live } },
  });
  const environment = {
    ...environmentOf(directory),
    GATEWAY_DATA: join(directory, 'data'),
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
  };
  const run = (...words: string[]) => runInProcess(words, { environment });
  return { directory, environment, run, file: join(directory, 'openapi/things.json') };
}

describe('text of a document does not command the terminal:', () => {
  const documents: Readonly<Record<string, object | string>> = {
    'a path': documentOf({ [`/things/${evil}`]: { get: operation() } }),
    'a name of an operation': documentOf({ '/things': { get: operation({ operationId: evil }) } }),
    'a name of a property': documentOf({
      '/things': {
        get: operation({
          parameters: [{ name: 'q', in: 'query', schema: { properties: { [evil]: { type: evil } } } }],
        }),
      },
    }),
    'a pattern': documentOf({
      '/things': {
        get: operation({ parameters: [{ name: 'q', in: 'query', schema: { type: 'string', pattern: `(${evil}` } }] }),
      },
    }),
    'a media type': documentOf({ '/things': { post: operation({ requestBody: { content: { [evil]: {} } } }) } }),
    'a reference': documentOf({ '/things': { get: operation({ responses: { 200: { $ref: `./${evil}.json` } } }) } }),
    'an unknown member': documentOf({ '/things': { get: operation({ [evil]: 1 }) } }),
    'an extension': documentOf({ '/things': { get: operation({ [`x-gateway-${evil}`]: 1 }) } }),
    'a version': documentOf({ '/things': { get: operation() } }, { openapi: evil }),
    'a server': documentOf({ '/things': { get: operation() } }, { servers: [{ url: `http://${evil}/` }] }),
    'text that is no JSON': `{"openapi": "3.1.0", "x${EVIL}: 1`,
    'text that is no YAML': `openapi: 3.1.0\n"x${EVIL}: [1\n`,
  };
  for (const [what, document] of Object.entries(documents)) {
    it(what, async () => {
      const { run, file, environment } = written(document);
      for (const words of [['check'], ['routes'], ['contract', 'lint', file], ['contract', 'diff', file, file]]) {
        for (const flags of [[], ['--json']])
          assertHarmless(await run(...words, ...flags), `${words.join(' ')} ${flags}`);
      }
      const bundled = await run('contract', 'bundle', file);
      assertHarmless(bundled, 'contract bundle');
      const { started, ...finished } = await tryStartInProcess(environment);
      assertHarmless(finished, 'start');
      await started?.stop();
    });
  }

  it('and it is shown: check names the mistake, and a bundle is the same document', async () => {
    const wrong = written(documents['a name of a property'] ?? {});
    assertShown(await wrong.run('check'), 'check');
    const right = documentOf({ '/things': { get: operation({ summary: evil }) } });
    const { stdout } = await written(right).run('contract', 'bundle', written(right).file);
    assert.equal(JSON.parse(stdout).paths['/things'].get.summary, evil);
  });
});

describe('text of a service does not command the terminal:', () => {
  let answer: { status: number; headers: Record<string, string>; body: string };
  let document: object = {};
  let origin = '';
  let service: FakeUpstream;
  before(async () => {
    service = await startUpstream(({ url }, response) => {
      if (url === '/openapi.json') return void response.writeHead(200).end(JSON.stringify(document));
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    origin = service.url;
  });
  after(() => service.close());
  const json = { 'content-type': 'application/json' };
  const schema = { type: 'object', additionalProperties: { type: 'integer' } };
  const things = documentOf({
    '/things': {
      get: operation({ responses: { 200: { description: 'All', content: { 'application/json': { schema } } } } }),
      post: operation({ operationId: 'add_thing', requestBody: { content: { 'application/json': { schema: {} } } } }),
    },
    '/things/{id}': {
      get: operation({
        operationId: 'get_thing',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      }),
    },
  });

  const answers: Readonly<Record<string, typeof answer>> = {
    'a body with a wrong member': { status: 200, headers: json, body: JSON.stringify({ [evil]: 'x' }) },
    'a body that is no JSON': { status: 200, headers: json, body: `{"x${EVIL}` },
    'a media type': { status: 200, headers: { 'content-type': `text/x\x9b31m` }, body: 'x' },
    'a header': { status: 200, headers: { ...json, 'x-a\u0023': 'y\x9b31m', server: 'y\x9b31m' }, body: '{}' },
    'the message of an error': {
      status: 422,
      headers: json,
      body: JSON.stringify({ error: evil, detail: evil, message: evil }),
    },
    'an error page': { status: 500, headers: { 'content-type': 'text/html' }, body: evil },
    'an unknown status': { status: 299, headers: json, body: '{}' },
    'an id of a record': { status: 201, headers: json, body: JSON.stringify({ id: evil, name: evil }) },
  };
  for (const [what, given] of Object.entries(answers)) {
    it(`upstreams try, ${what}`, async () => {
      answer = given;
      const { run } = written(things, origin);
      for (const flags of [[], ['--json'], ['--writes']])
        assertHarmless(await run('upstreams', 'try', 'things', ...flags), flags.join());
    });
  }

  it('init --from, the title, paths and addresses of its document', async () => {
    answer = { status: 200, headers: json, body: '{}' };
    document = documentOf(
      { [`/things/${evil}`]: { get: operation() }, '/other': { get: operation({ operationId: `o${EVIL}` }) } },
      { info: { title: evil, version: evil } },
    );
    const made = mkdtempSync(join(root, 'init-'));
    mkdirSync(join(made, 'openapi'));
    const printed = await runInProcess(['init', made, '--from', origin], { environment: { GATEWAY_DATA: made } });
    assertHarmless(printed, 'init');
    assertHarmless(
      await runInProcess(['init', '--from', `${origin}/${EVIL}`], {
        environment: { GATEWAY_CONFIG: made, GATEWAY_CONTRACTS: join(made, 'openapi'), GATEWAY_DATA: made },
      }),
      'init, again',
    );
  });
});

describe('text of a client does not command the terminal:', () => {
  it('explain, of a line in a log', async () => {
    const { run, directory } = written(documentOf({ '/things': { get: operation() } }));
    const log = join(directory, 'log.jsonl');
    const line = {
      level: 30,
      time: 1_700_000_000_000,
      msg: 'exchange',
      request_id: 'req_1',
      method: 'GET',
      status: 404,
      code: 'route_not_found',
      stage: 'match',
      route: evil,
      path: evil,
      client_request_id: evil,
      client_address: evil,
    };
    writeFileSync(log, `${JSON.stringify(line)}\n`);
    const printed = await run('explain', 'req_1', '--log', log);
    assertHarmless(printed, 'explain');
  });
});
