// The documentation says what limits.yaml admits, where help is, and what a page can send; a name that is gone is replaced.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { warningsOf } from '../../../gateway/commands/check-warnings.ts';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { loadConfiguration } from '../../../gateway/configuration.ts';
import { environmentOf } from '../../support/configuration.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const ok = { 200: { description: 'fine', content: { 'application/json': { schema: { type: 'object' } } } } };
const item = (operationId: string, members: object = {}) => ({
  operationId,
  summary: operationId,
  responses: ok,
  ...members,
});
const contract = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  security: [{ apiKey: ['things:read'] }],
  paths: {
    // No example of the service, although it is the first that can be read.
    '/v1/health': { get: item('isWell') },
    '/v1/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: item('getThing'),
      put: item('uploadThing', {
        'x-gateway-body': 'stream',
        requestBody: { content: { 'application/octet-stream': {} } },
      }),
    },
    '/v1/things': { get: item('listThings'), post: item('searchThings') },
  },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
};

describe('what the documentation says of limits and help', () => {
  let gateway: TestGateway;
  const read = async (path: string) => (await fetch(gateway.url + path)).text();
  before(async () => {
    gateway = await startGateway({
      contracts: { 'things.json': contract },
      upstreams: { things: { contracts: ['things.json'], live: 'http://127.0.0.1:1' } },
      limits: {
        tiers: {
          anonymous: { requests: 30 },
          free: { requests: 60 },
          gold: { requests: 120_000, windowSeconds: 3600, openStreams: 7 },
          internal: { requests: 9_999 },
          trial: { requests: 5, enforce: false },
        },
        extra: {
          searches: { requests: 10, windowSeconds: 1, per: 'key' },
          unused: { requests: 77_777 },
          silent: { requests: 88_888, enforce: false },
        },
        operations: { searchThings: { extra: 'searches', cost: 5 }, listThings: { extra: 'silent' } },
      },
      gateway: {
        portal: {
          title: 'Things & <Co>',
          tiers: ['free', 'gold', 'trial'],
          contact: 'help@example.com',
          status: 'https://status.example.com/a?b=1&c=2',
          sampleOperation: 'listGone',
        },
      },
    });
  });
  after(() => gateway?.stop());

  it('has the tiers that the configuration shows and that are enforced, further limits, costs and sizes', async () => {
    const text = await read('/docs/limits.md');
    const rows = text.split('\n').filter((line) => line.startsWith('| '));
    for (const row of [
      '| free | 60 | minute | 100 |',
      '| gold | 120,000 | hour | 7 |',
      '| without a key | 30 | minute | – |',
      '| searches | 10 | second | each key | [searchThings](/docs/reference/v1/searchThings.md) |',
      '| [searchThings](/docs/reference/v1/searchThings.md) | 5 |',
      '| body | what the operation says | [uploadThing](/docs/reference/v1/uploadThing.md) |',
      '| body | 1 MiB | all others |',
    ])
      assert.ok(rows.includes(row), `${row}\n${text}`);
    assert.doesNotMatch(text, /internal|9,?999|trial|unused|77,?777|silent|88,?888/);
    assert.match(await read('/docs/limits'), /<tr data-limit="120000\/3600"><th scope="row">gold<\/th>/);
    const policy = (await ask()).headers.get('ratelimit-policy');
    assert.equal(policy, '"organization";q=60;w=60', 'what the page marks the reader’s tier by');
  });

  it('counts in the guide by a tier that a key may have, although another one is the first', async () => {
    assert.match(await read('/docs/guides/rate-limits.md'), /q=60;w=60/);
  });

  async function ask() {
    const { authorization } = await gateway.authorize({ tier: 'free' });
    return fetch(`${gateway.url}/v1/things`, { headers: { authorization } });
  }

  it('links help and status on every page', async () => {
    for (const path of ['/docs', '/docs/errors/rate_limited', '/docs/reference/v1/listThings', '/docs/limits']) {
      const html = await read(path);
      assert.ok(html.includes('<a href="mailto:help@example.com" rel="noreferrer" data-contact>Contact</a>'), path);
      assert.ok(html.includes('<a href="https://status.example.com/a?b=1&amp;c=2" rel="noreferrer">Status</a>'), path);
    }
  });

  it('shows the first operation that can be read, where the named one is gone, and check warns of it', async () => {
    assert.match(await read('/docs'), /href="\/docs\/reference\/v1\/listThings"><span class="method get">GET/);
    const environment = environmentOf(gateway.directory);
    const settings = loadSettings(environment);
    const configuration = await loadConfiguration(settings, environment, 'check');
    const { sentences: warnings } = await warningsOf(configuration, settings.contractsDirectory, Date.now());
    assert.ok(
      warnings.some((one) => /portal\.sampleOperation: there is no operation "listGone", so the pages show/.test(one)),
      warnings.join('\n'),
    );
  });

  it('says why an operation cannot be sent from its page, and how an operator makes that possible', async () => {
    const html = await read('/docs/reference/v1/listThings');
    assert.doesNotMatch(html, /class="try|id="key-bar"/);
    assert.match(
      html,
      /This operation has no test data, .* add <code>test: &quot;examples:&quot;<\/code>|test: "examples:"/,
    );
    assert.match(html, /the entry <code>things<\/code>/);
  });

  it('draws a mark from the name, the same each time, and escapes the name', async () => {
    const [one, other] = [await read('/docs'), await read('/docs/errors')].map(
      (html) => /<svg[\s\S]*?<\/svg>/.exec(html)?.[0],
    );
    assert.ok(one !== undefined && one === other);
    assert.match(await read('/docs'), /<span>Things &amp; &lt;Co&gt;<\/span>/);
    const icon = await fetch(`${gateway.url}/docs/assets/icon.svg`);
    assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
  });
});
