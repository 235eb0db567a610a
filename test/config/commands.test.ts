// `check` and `start` as an operator runs them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createAuthority } from '../support/certificates.ts';
import { environmentOf } from '../support/configuration.ts';
import { runInProcess } from '../support/in-process.ts';
import { type Files, sound, spoiled, writeSound } from './faults.ts';

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const FREE_PORTS = { PORT: '0', ADMIN_PORT: '0' };

function run(words: readonly string[], environment: Record<string, string> = {}, directory = root): Promise<Outcome> {
  const { PATH = '', HOME = '' } = process.env;
  const options = { env: { PATH, HOME, ...FREE_PORTS, ...environment }, cwd: directory, timeout: 120_000 };
  return new Promise((resolve) => {
    execFile(join(root, 'bin/gateway'), words, options, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err });
    });
  });
}

/** Runs `start` in the directory of a configuration, as an operator would. */
async function start(files: Files): Promise<Outcome & { readonly started: boolean }> {
  const directory = writeSound(files);
  const data = join(directory, 'data');
  const environment = { ...environmentOf(directory), GATEWAY_DATA: data };
  const outcome = await run(['start'], environment, directory);
  const started = existsSync(data);
  rmSync(directory, { recursive: true });
  return { ...outcome, started };
}

/** Runs a command in this process. Paths in its output are shown from the directory of the configuration. */
async function runOn(files: Files, ...words: string[]): Promise<Outcome> {
  const directory = writeSound(files);
  const environment = { ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data'), ...FREE_PORTS };
  const { code, stdout, stderr } = await runInProcess(words, { environment });
  rmSync(directory, { recursive: true });
  const shown = (text: string) =>
    text.replaceAll(`${relative(process.cwd(), directory)}/`, '').replaceAll(`${directory}/`, '');
  return { code, out: shown(stdout), err: shown(stderr) };
}

const broken = {
  ...spoiled('config/upstreams.yaml', 'timeoutMs', 'timeoutMS'),
  ...spoiled('openapi/items.yaml', 'items:write', 'item:write'),
};
const sentences = [
  'config/upstreams.yaml:5:5: upstreams.items.timeoutMS: the key "timeoutMS" is not known here. Did you mean "timeoutMs"?',
  'openapi/items.yaml:11:20: paths./v1/items.post.security.0.apiKey: the scope "item:write" is unknown. Did you mean "items:write"?',
];

test('the shipped configuration is fine', async () => {
  const { code, out, err } = await run(['check', '--json']);
  assert.deepEqual([code, err], [0, '']);
  const { version, metrics_bytes: metricsBytes, ...told } = JSON.parse(out);
  assert.deepEqual(told, {
    ok: true,
    manifest: false,
    operations: 93,
    contracts: 13,
    of_gateway: { operations: 37, contracts: 2 },
    mistakes: [],
    warnings: [],
    unenforced: [],
    changed_since_published: [],
  });
  assert.match(version, /^[0-9a-f]{12}$/);
  assert.ok(metricsBytes > 0);
});

test('mistakes are printed, and the exit code is 1', async () => {
  const [people, programs] = await Promise.all([runOn(broken, 'check'), runOn(broken, 'check', '--json')]);
  assert.equal(people.code, 1);
  assert.equal(people.out, '');
  assert.deepEqual(people.err.split('\n'), [
    ...sentences,
    '2 mistakes. Correct them before you start or reload the gateway.',
    '',
  ]);
  assert.equal(programs.code, 1);
  assert.deepEqual(JSON.parse(programs.out), {
    ok: false,
    mistakes: [
      {
        file: 'config/upstreams.yaml',
        line: 5,
        column: 5,
        place: 'upstreams.items.timeoutMS',
        reason: 'the key "timeoutMS" is not known here.',
        remedy: 'Did you mean "timeoutMs"?',
      },
      {
        file: 'openapi/items.yaml',
        line: 11,
        column: 20,
        place: 'paths./v1/items.post.security.0.apiKey',
        reason: 'the scope "item:write" is unknown.',
        remedy: 'Did you mean "items:write"?',
      },
    ],
    warnings: [],
  });
});

test('start prints the same and starts nothing', async () => {
  const { code, out, err, started } = await start(broken);
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.ok(err.startsWith(sentences.join('\n')), err);
  assert.ok(!started, 'no data directory was made');
});

test('a legal but suspicious value is a warning', async () => {
  const crossing = sound['openapi/items.yaml'].replace(
    '  /v1/items:',
    `  /v1/items/{id}/parts: &a
    get: { parameters: [{ name: id, in: path, required: true, schema: {} }], responses: { "200": { description: x } } }
  /v1/items/all/{id}:
    get: { parameters: [{ name: id, in: path, required: true, schema: {} }], responses: { "200": { description: x } } }
  /v1/items:`,
  );
  const files = {
    'openapi/items.yaml': crossing.replace('"#/components/schemas/Item"', 'parts.yaml#/Item'),
    'openapi/parts.yaml': 'Item: { type: object }\n',
    'openapi/forgotten.yaml': sound['openapi/items.yaml'],
  };
  const [people, programs] = await Promise.all([runOn(files, 'check'), runOn(files, 'check', '--json')]);
  const warnings = [
    'openapi/forgotten.yaml: no upstream lists this file, so it is not served. List it in upstreams.yaml, or remove it.',
    '/v1/items/{id}/parts and /v1/items/all/{id} both match some paths; the one with a literal further left wins.',
  ];
  assert.deepEqual(people.out.split('\n'), [
    ...warnings.map((warning) => `warning: ${warning}`),
    'No mistakes, but 2 warnings, of which 1 leaves operations that no request can use: 4 operations in 1 contract, from config.',
    '',
  ]);
  assert.deepEqual([people.code, people.err], [0, '']);
  assert.deepEqual(JSON.parse(programs.out).warnings, warnings);
});

test('with --strict, a warning about the files is a mistake, and one about this machine is not', async () => {
  const files = { 'openapi/forgotten.yaml': sound['openapi/items.yaml'] };
  const { code, out } = await runOn(files, 'check', '--strict');
  assert.equal(code, 1);
  assert.match(out, /^warning: openapi\/forgotten\.yaml: .*\n1 warning in .*, counted as a mistake \(--strict\)\.\n$/);
  const { ok } = JSON.parse((await runOn(files, 'check', '--strict', '--json')).out);
  assert.equal(ok, false);
  const secret = '    credential: { bearer: { secret: items_token } }\n';
  const missing = { 'config/upstreams.yaml': sound['config/upstreams.yaml'] + secret };
  const lenient = await runOn(missing, 'check', '--strict');
  assert.deepEqual([lenient.code, /^warning: .*items_token/.test(lenient.out)], [0, true], lenient.out + lenient.err);
});

test('check says how large /metrics may become, where that is much', async () => {
  const low = { 'config/gateway.yaml': `${sound['config/gateway.yaml'] ?? ''}\nmetrics: { operationsMax: 0 }\n` };
  const [people, few, programs] = await Promise.all([
    runOn(low, 'check'),
    runOn({}, 'check'),
    runOn(low, 'check', '--json'),
  ]);
  assert.match(
    people.out,
    /^Metrics are kept by entry, because metrics\.operationsMax is lower, and may take 0\.0 MiB of \/metrics\.$/m,
  );
  assert.doesNotMatch(few.out, /Metrics/);
  assert.ok(JSON.parse(programs.out).metrics_bytes > 1000);
});

test('whenOutcomeUnknown beside honoursIdempotencyKey has no effect, and is a warning', async () => {
  const both = 'timeoutMs: 1000\n    honoursIdempotencyKey: true\n    whenOutcomeUnknown: refuse';
  const files = spoiled('config/upstreams.yaml', 'timeoutMs: 1000', both);
  const { code, out } = await runOn(files, 'check');
  assert.equal(code, 0, out);
  assert.match(
    out,
    /^warning: config\/upstreams\.yaml:\d+:\d+: upstreams\.items\.whenOutcomeUnknown: it says nothing, because honours/m,
  );
});

test('a contract that alone opens operations to the credential of the gateway is a warning, until the entry confirms it', async () => {
  const credential = 'credential: { basic: { user: gateway, secret: items_login } }';
  const contract = sound['openapi/items.yaml']
    .replace('[{ apiKey: ["items:write"] }]', '[{ login: [] }]')
    .replace('  securitySchemes:\n', '  securitySchemes:\n    login: { type: http, scheme: basic }\n');
  const run = (more: string) =>
    runOn(
      { ...spoiled('config/upstreams.yaml', 'timeoutMs: 1000', credential + more), 'openapi/items.yaml': contract },
      'check',
    );
  const silent = await run('');
  assert.equal(silent.code, 0, silent.out);
  assert.match(
    silent.out,
    /upstreams\.items\.credential: the contract lets clients present this user name and password/,
  );
  const said = await run('\n    basicForClients: true');
  assert.equal(said.code, 0, said.out);
  assert.doesNotMatch(said.out, /the contract lets clients/);
});

test('tokens that no issuer could have signed are a warning', async () => {
  const files = spoiled('config/upstreams.yaml', 'timeoutMs: 1000', 'authorization: forward');
  const { code, out } = await runOn(files, 'check');
  assert.equal(code, 0, out);
  assert.match(out, /upstreams\.items\.authorization: gateway\.yaml has no issuers, so no token reaches the service/);
});

test('a check that is looser than the contract is a warning, with its place', async () => {
  const properties = [
    'secret: { type: string, pattern: "^(?=.*[a-z])(?=.*[0-9]).+$" }',
    'short: { type: string, maxLength: 20, pattern: "^(?=.*[a-z])(?=.*[0-9]).+$" }',
    'twice: { type: string, pattern: "^(a+)\\\\1$" }',
    'expression: { type: string, format: regex }',
    'brief: { type: string, format: regex, maxLength: 100 }',
    'plain: { type: string, pattern: "^(a+)+$", format: uri }',
  ];
  const files = {
    'openapi/items.yaml': sound['openapi/items.yaml'].replace(
      '        name: {',
      `${properties.map((property) => `        ${property}\n`).join('')}        name: {`,
    ),
  };
  const { out, code } = await runOn(files, 'check');
  const at = 'components.schemas.Item.properties';
  const remedy = 'Write it without look-around and back references, or add a maxLength that is short enough.';
  assert.deepEqual(out.split('\n'), [
    `warning: openapi/items.yaml:24:42: ${at}.secret.pattern: the pattern ^(?=.*[a-z])(?=.*[0-9]).+$ could take long, so texts of more than 99 characters are checked without its look-around and back references. ${remedy}`,
    `warning: openapi/items.yaml:26:41: ${at}.twice.pattern: the pattern ^(a+)\\1$ could take long, so texts are checked without its look-around and back references. ${remedy}`,
    `warning: openapi/items.yaml:27:45: ${at}.expression.format: format regex takes texts of up to 1000 characters, and refuses longer ones. Add a maxLength, so that clients know.`,
    'not enforced: patterns: ^(?=.*[a-z])(?=.*[0-9]).+$ (1 operation), ^(a+)\\1$ (1 operation)',
    'No mistakes, but 3 warnings: 2 operations in 1 contract, from config.',
    '',
  ]);
  assert.equal(code, 0);
});

test('nullable in a document of OpenAPI 3.1 is a warning of check and lint, with its place, and in one of 3.0 it holds', async () => {
  const properties = [
    'note: { type: string, nullable: true }',
    'same: { $ref: "#/components/schemas/Item", nullable: true }',
    'both: { type: [string, "null"], nullable: true }',
    'never: { type: string, nullable: false }',
    'nullable: { type: boolean }',
  ];
  const contract = sound['openapi/items.yaml'].replace(
    '        name: {',
    `${properties.map((property) => `        ${property}\n`).join('')}        name: {`,
  );
  const { out, code } = await runOn({ 'openapi/items.yaml': contract }, 'check');
  const ignored = 'OpenAPI has no nullable from 3.1 on, so it is ignored and admits no null here.';
  const remedy =
    'Write "null" into the type, as in [string, "null"]; beside a $ref, write anyOf with { type: "null" }.';
  const at = 'components.schemas.Item.properties';
  const warnings = [
    `openapi/items.yaml:24:31: ${at}.note.nullable: ${ignored} ${remedy}`,
    `openapi/items.yaml:25:52: ${at}.same.nullable: ${ignored} ${remedy}`,
  ];
  assert.equal(code, 0, out);
  assert.deepEqual(
    out.split('\n').filter((line) => line.includes('nullable')),
    warnings.map((warning) => `warning: ${warning}`),
  );
  const linted = await runOn({ 'openapi/items.yaml': contract }, 'contract', 'lint');
  assert.equal(linted.code, 0, linted.out);
  for (const warning of warnings) assert.ok(linted.out.includes(`recommended: ${warning}\n`), linted.out);
  const ofV30 = contract.replace(/^openapi: .*/, 'openapi: 3.0.4').replace('[string, "null"]', 'string');
  assert.doesNotMatch((await runOn({ 'openapi/items.yaml': ofV30 }, 'check')).out, /nullable/);
});

test('check warns of slow checks, and of uploads that are refused because of their length', async () => {
  const properties = '        slow: { type: string, pattern: "[a-z]{2000}!" }\n';
  const upload =
    '      requestBody: { content: { multipart/form-data: { schema: { properties: { f: { type: string, format: binary } } } } } }\n';
  const contract = sound['openapi/items.yaml']
    .replace('        name: {', `${properties}        name: {`)
    .replace(/( {6}operationId: createItem\n(?:.*\n)*?) {6}requestBody:.*\n(?: {8,}.*\n)*/, `$1${upload}`);
  const { out, code } = await runOn({ 'openapi/items.yaml': contract }, 'check');
  assert.match(
    out,
    /^warning: openapi\/items\.yaml:\d+:\d+: components\.schemas\.Item\.properties\.slow\.pattern: long texts can take/m,
  );
  assert.match(
    out,
    /^warning: openapi\/items\.yaml:\d+:\d+: paths\.\S+\.post: uploads of more than 1048576 bytes are refused \(limits\.bodyBytesMax\)\. To let longer ones through, set operations: \{ createItem: \{ body: stream \} \}/m,
  );
  assert.equal(code, 0, out);
});

test('a name that has no effect is a warning: of an organization, of an operator scope; and so is a file without tiers', async () => {
  const files = {
    'config/gateway.yaml': 'operatorScopes: [itmes:read, items:write]\n',
    'config/limits.yaml': 'tiers: {}\norganizations: { acme: { requests: 1 }, org_acme: { requests: 1 } }\n',
  };
  const { code, out } = await runOn(files, 'check');
  assert.equal(code, 0);
  assert.deepEqual(out.split('\n').slice(0, -2), [
    'warning: config/limits.yaml:1:1: tiers: there is no tier, so no organization is limited. Define one.',
    'warning: config/limits.yaml:2:18: organizations.acme: "acme" is not the id of an organization, so this limit applies to none. Write it as "gateway orgs list" shows it.',
    'warning: config/gateway.yaml:1:18: operatorScopes.0: no operation requires the scope "itmes:read", so reserving it has no effect. Did you mean "items:read"?',
  ]);
});

test('an entry whose hosts have no name is a warning: its operations are served nowhere', async () => {
  const upstreams = `${sound['config/upstreams.yaml']}    hosts: [administration]\n`;
  const { code, out } = await runOn({ 'config/upstreams.yaml': upstreams }, 'check');
  assert.equal(code, 0, out);
  assert.match(
    out,
    /^warning: config\/upstreams\.yaml:\d+:\d+: upstreams\.items\.hosts: gateway\.yaml has no host name for administration, so its operations are served nowhere\. Set hosts\.administration in gateway\.yaml\.$/m,
  );
});

test('a public operation that nothing limits is a warning', async () => {
  const warned = async (limits: string) => {
    const files = {
      'openapi/items.yaml': sound['openapi/items.yaml'].replaceAll(/^ *security: .*\n/gm, ''),
      'config/upstreams.yaml': `${sound['config/upstreams.yaml']}    public: true\n`,
      'config/limits.yaml': limits,
    };
    const { code, out, err } = await runOn(files, 'check');
    assert.deepEqual([code, err], [0, '']);
    return out.split('\n').slice(0, -2);
  };
  const warning = (which: string) =>
    `warning: config/limits.yaml:1:1: tiers: no limit counts the requests of a client address to ${which}. Add the tier anonymous.`;
  const standard = 'standard: { requests: 100 }';
  assert.deepEqual(await warned(`tiers: { ${standard} }\n`), [warning('the public operations listItems, createItem')]);
  const { 'config/limits.yaml': withExtra } = sound;
  assert.deepEqual(await warned(withExtra), [warning('the public operation createItem')]);
  assert.deepEqual(await warned(`tiers: { ${standard}, anonymous: { requests: 60 } }\n`), []);
});

test('the operations that would be served can be listed', async () => {
  const { code, out } = await runOn({}, 'routes');
  assert.equal(code, 0);
  assert.deepEqual(
    out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
    [
      ['METHOD', 'PATH', 'OPERATION', 'SCOPES', 'LIMITS', 'UPSTREAM'],
      ['GET', '/v1/items', 'listItems', 'items:read', 'tier slow', 'items'],
      ['POST', '/v1/items', 'createItem', 'items:write', 'tier', 'items'],
    ],
  );
});

test('routes lists the operations of the gateway last, and with --upstream the operations of one upstream', async () => {
  const listed = async (...words: string[]) => {
    const { code, stdout } = await runInProcess(['routes', ...words, '--json'], { environment: FREE_PORTS });
    assert.equal(code, 0);
    return (JSON.parse(stdout) as { path: string; upstream: string }[]).map(({ path, upstream }) => ({
      upstream,
      isOwn: path.startsWith('/gateway/'),
    }));
  };
  const all = await listed();
  const first = all.findIndex(({ isOwn }) => isOwn);
  assert.ok(first > 0 && all.slice(first).every(({ isOwn }) => isOwn));
  const some = await listed('--upstream', 'platform');
  assert.deepEqual(
    some,
    all.filter(({ upstream }) => upstream === 'platform'),
  );
  assert.ok(some.length > 0 && some.length < first);
  const { code, stderr } = await runInProcess(['routes', '--upstream', 'platfrm'], { environment: FREE_PORTS });
  assert.deepEqual(
    [code, stderr],
    [2, 'gateway: There is no upstream "platfrm" in upstreams.yaml. Did you mean "platform"?\n'],
  );
});

test('a certificate toward an upstream that has expired is worth a warning', async () => {
  const authority = createAuthority();
  const { certificate, key } = authority.issue({ names: ['gateway.test'], fromDays: -30, days: -1 });
  const upstreams = sound['config/upstreams.yaml'].replace('http://', 'https://');
  const files = {
    'config/upstreams.yaml': `${upstreams}    tls: { certificate: own.pem, key: own.key }\n`,
    'config/own.pem': certificate,
    'config/own.key': key,
  };
  const { code, out } = await runOn(files, 'check');
  assert.equal(code, 0);
  assert.match(
    out,
    /^warning: upstreams\.items\.tls\.certificate: the certificate of CN=gateway\.test has expired on /m,
  );
});

test('the last line counts the warnings, and those about operations that no request can use', async () => {
  const verdictOf = async (files: Files) => (await runOn(files, 'check')).out.trimEnd().split('\n').at(-1);
  const counted = (which: string) => `No mistakes, but ${which}: 2 operations in 1 contract, from config.`;
  const item = (of: string) => spoiled('openapi/items.yaml', '      type: object\n', `      type: object\n${of}`);
  const crossed = '{ type: string, minLength: 3, maxLength: 2 }';
  const required = (files: Files) => ({
    'openapi/items.yaml': files['openapi/items.yaml']?.replace(
      'requestBody:\n',
      'requestBody:\n        required: true\n',
    ),
  });
  const named = item('      required: [name]\n')['openapi/items.yaml']?.replace(/name: \{.*\}/, `name: ${crossed}`);
  const needed = required({ 'openapi/items.yaml': named });
  const refuses = '1 warning, of which 1 leaves operations that no request can use';
  assert.equal(await verdictOf(needed), counted(refuses));
  assert.match(
    (await runOn(needed, 'check')).out,
    /^warning: .*minLength 3 is above maxLength 2, so no value is valid: every request of createItem is refused\. /,
  );
  // Without the member, or without a body, requests pass.
  assert.equal(await verdictOf({ 'openapi/items.yaml': named }), counted('1 warning'));
  const optional = sound['openapi/items.yaml'].replace(/name: \{.*\}/, `name: ${crossed}`);
  assert.equal(await verdictOf(required({ 'openapi/items.yaml': optional })), counted('1 warning'));
  const parameter = `parameters: [{ name: id, in: query, required: true, schema: ${crossed} }]\n      operationId: listItems`;
  assert.equal(await verdictOf(spoiled('openapi/items.yaml', 'operationId: listItems', parameter)), counted(refuses));
  const hosts = spoiled('config/upstreams.yaml', 'timeoutMs: 1000', 'hosts: [administration]');
  assert.equal(await verdictOf(hosts), counted(refuses));
  const question = sound['openapi/items.yaml'].replace(
    'components:',
    '  /v1/items?all=1:\n    get: { operationId: listAll, responses: { "200": { description: All } } }\ncomponents:',
  );
  assert.equal(
    await verdictOf({ 'openapi/items.yaml': question, 'openapi/more.yaml': question }),
    counted('2 warnings, of which 2 leave operations that no request can use'),
  );
});

test('mistakes come before warnings, and a wrong type is one mistake, whatever stands beside it', async () => {
  const parameter =
    'parameters: [{ name: q, in: query, schema: { type: string, minimum: 3 } }]\n      operationId: listItems';
  const contract = sound['openapi/items.yaml']
    .replace('{ type: string, pattern', '{ type: int, pattern')
    .replace('operationId: listItems', parameter);
  const { err } = await runOn({ 'openapi/items.yaml': contract }, 'check');
  assert.deepEqual(err.split('\n'), [
    'openapi/items.yaml:25:23: components.schemas.Item.properties.name.type: OpenAPI has no type "int". Write type: integer.',
    'warning: openapi/items.yaml:7:66: paths./v1/items.get.parameters.0.schema.minimum: minimum has no effect on values of type string. Did you mean "minLength"?',
    '1 mistake. Correct it before you start or reload the gateway.',
    '',
  ]);
});

test('a server without https:// and a path parameter that is not required are warnings with their remedy', async () => {
  const warningOf = async (piece: string, by: string) => {
    const { code, out, err } = await runOn(spoiled('openapi/items.yaml', piece, by), 'check');
    assert.equal(code, 0, err);
    return out.split('\n').slice(0, -2);
  };
  for (const host of ['api.example.com/v1', 'api.example.com:8443', 'localhost:3000'])
    assert.deepEqual(await warningOf('paths:', `servers: [{ url: "${host}" }]\npaths:`), [
      `warning: openapi/items.yaml:4:18: servers.0.url: the server "${host}" has no https:// in front of its host, so it is read as a path. Did you mean "https://${host}"?`,
    ]);
  for (const relative of ['/v1', 'v1', './v1', 'https://api.example.com', '{scheme}://api.example.com'])
    assert.deepEqual(await warningOf('paths:', `servers: [{ url: "${relative}" }]\npaths:`), [], relative);
  const parameter = (more: string) =>
    `/v1/items/{id}:\n    parameters: [{ name: id, in: path, ${more}schema: { type: string } }]`;
  for (const [more, column, place, remedy] of [
    ['', 18, '0', 'Add required: true.'],
    ['required: false, ', 50, '0.required', 'Change it to true.'],
  ] as const)
    assert.deepEqual(await warningOf('/v1/items:', parameter(more)), [
      `warning: openapi/items.yaml:6:${column}: paths./v1/items/{id}.parameters.${place}: the path parameter "id" is not declared as required, although every path has it. ${remedy}`,
    ]);
  assert.deepEqual(await warningOf('/v1/items:', parameter('required: true, ')), []);
});

test('a path with a query in it is named, even if the contract has no other path', async () => {
  const { err } = await runOn(spoiled('openapi/items.yaml', '/v1/items:', '/v1/items?x={x}:'), 'check');
  assert.match(
    err,
    /^openapi\/items\.yaml:5:3: .*its operations are not served\. Write \/v1\/items, and declare "x" among its parameters, with in: query\.$/m,
  );
});
