// Slips that a valid file may have: addresses that lead back to the gateway, proxies that are anyone, and parts of a contract that mean
// nothing. `check` tells each at its place.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { environmentOf } from '../support/configuration.ts';
import { runInProcess } from '../support/in-process.ts';
import { type Files, sentencesFor, sound, spoiled, writeSound } from './faults.ts';

const [UPSTREAMS, GATEWAY, ITEMS] = ['config/upstreams.yaml', 'config/gateway.yaml', 'openapi/items.yaml'] as const;

/** The warnings of `check`, without those about the sound configuration. */
async function warningsFor(files: Files): Promise<string[]> {
  const directory = writeSound(files);
  const { code, stdout } = await runInProcess(['check'], { environment: environmentOf(directory) });
  rmSync(directory, { recursive: true });
  assert.equal(code, 0, stdout);
  const lines = stdout.replaceAll(`${directory}/`, '').split('\n');
  return lines.flatMap((line) => /^warning: ((?:config|openapi)\/.*)$/.exec(line)?.[1] ?? []);
}

describe('the own address in place of a service', () => {
  const says = (variable: string) =>
    `${UPSTREAMS}:4:11: upstreams.items.live: the gateway itself listens at this address (${variable}), so each request would come back to it. Write that of the service, or set ${variable}.`;
  for (const [address, environment, expected] of [
    ['http://localhost:8080', {}, [says('PORT')]],
    ['http://127.0.0.1:9090', {}, [says('ADMIN_PORT')]],
    ['http://[::1]:3000', { PORT: '3000' }, [says('PORT')]],
    ['http://localhost:8080', { PORT: '8081' }, []],
    ['http://localhost:8080', { HOST: '10.0.0.5' }, []],
    ['http://items:8080', {}, []],
  ] as const)
    test(`${address} with ${JSON.stringify(environment)}`, async () => {
      const files = spoiled(UPSTREAMS, 'http://items:3000', address);
      assert.deepEqual(await sentencesFor({ files, environment }), expected);
    });
});

describe('a value that is nearly right', () => {
  for (const [what, files, says] of [
    [
      'an address without a scheme',
      spoiled(GATEWAY, 'http://localhost:8080', 'api.acme.test'),
      /Did you mean "https:\/\/api\.acme\.test"\?$/,
    ],
    [
      'a local one',
      spoiled(GATEWAY, 'http://localhost:8080', 'localhost:80'),
      /Did you mean "http:\/\/localhost:80"\?$/,
    ],
    [
      'an origin with a slash',
      spoiled(GATEWAY, 'trustedProxies', 'cors: { "*": { origins: ["https://app.acme.test/"] } }\ntrustedProxies'),
      /Did you mean "https:\/\/app\.acme\.test"\?$/,
    ],
    ['a prefix', spoiled(GATEWAY, '[]', '[10.0.0.0/33]'), /such as 10\.0\.0\.0\/8; prefixes of IPv4 end at \/32\.$/],
  ] as [string, Files, RegExp][])
    test(`${what} is told with the right one`, async () => {
      const [sentence, ...others] = await sentencesFor({ files });
      assert.match(sentence ?? '', says);
      assert.deepEqual(others, []);
    });
});

const parameter = (name: string) =>
  `parameters: [{ name: ${name}, in: path, required: true, schema: { type: string } }]`;
const withPaths = (first: string, second: string) =>
  spoiled(
    ITEMS,
    'components:\n',
    `  /v1/items/{a}:\n    ${first}: { operationId: one, ${parameter('a')}, responses: { "200": { description: x } } }\n` +
      `  /v1/items/{b}:\n    ${second}: { operationId: two, ${parameter('b')}, responses: { "200": { description: x } } }\n` +
      'components:\n',
  );

for (const [what, files, says] of [
  [
    'anyone as a proxy',
    spoiled(GATEWAY, '[]', '["10.0.0.0/8", "0.0.0.0/0"]'),
    `${GATEWAY}:2:32: trustedProxies.1: clients in 0.0.0.0/0 can write any address into X-Forwarded-For, so no limit of addresses stops them. List the addresses of your proxies only.`,
  ],
  [
    'a security scheme that an entry replaces',
    {
      ...spoiled(ITEMS, '[{ apiKey: ["items:write"] }]', '[{ apiKye: [] }]'),
      ...spoiled(UPSTREAMS, 'timeoutMs: 1000', 'security: { read: ["items:read"], write: ["items:write"] }'),
    },
    `${ITEMS}:11:20: paths./v1/items.post.security.0.apiKye: there is no security scheme "apiKye". Did you mean "apiKey"?`,
  ],
  [
    'two forms of one path',
    withPaths('get', 'delete'),
    `${ITEMS}:19:3: paths./v1/items/{b}: "/v1/items/{b}" and "/v1/items/{a}" are one path, because only the names of parameters differ. Declare all methods below one of them, with the same names of parameters.`,
  ],
  [
    'content beside the reference of a response',
    {
      [ITEMS]: sound[ITEMS]
        .replace('"200": { description: The items }', '"200": { $ref: "#/components/responses/R", content: {} }')
        .concat('  responses:\n    R: { description: The items }\n'),
    },
    `${ITEMS}:8:63: paths./v1/items.get.responses.200.content: content beside a $ref: only the reference has an effect. Remove the $ref, or what is beside it.`,
  ],
  [
    'credentials of a server',
    spoiled(ITEMS, 'paths:', 'servers: [{ url: "https://user:hunter2@items.acme.test" }]\npaths:'),
    `${ITEMS}:4:18: servers.0.url: the address has credentials, and everyone who reads the document gets them. Remove them, and set credential of the entry in upstreams.yaml.`,
  ],
] as [string, Files, string][])
  test(`check warns of ${what}`, async () => {
    assert.deepEqual(await warningsFor(files), [says]);
  });

test('a mistake is not told again as a warning', async () => {
  for (const files of [spoiled(ITEMS, '[{ apiKey: ["items:write"] }]', '[{ apiKye: [] }]'), withPaths('get', 'get')]) {
    const directory = writeSound(files);
    const { stderr } = await runInProcess(['check'], { environment: environmentOf(directory) });
    rmSync(directory, { recursive: true });
    assert.doesNotMatch(stderr, /^warning/m);
    assert.match(stderr, /^1 mistake\./m);
  }
});

for (const [what, files, place] of [
  ['a type', spoiled(ITEMS, '{ type: string, pattern', '{ type: string\u00a0, pattern'), '24:29'],
  ['a path', spoiled(ITEMS, '  /v1/items:', '  /v1/items\u00a0:'), '5:12'],
] as [string, Files, string][])
  test(`a no-break space at the end of ${what} of a contract is a mistake`, async () => {
    const says = 'there is a no-break space (U+00A0), which YAML takes for text. Write an ordinary space in its place.';
    assert.deepEqual(await sentencesFor({ files }), [`${ITEMS}:${place}: ${says}`]);
  });

test('a no-break space at the end of a description is none', async () => {
  const files = spoiled(ITEMS, 'description: The items', 'description: \u00a0The\u00a0items\u00a0');
  assert.deepEqual(await sentencesFor({ files }), []);
});
