// The roles of the admin listener: `admin_token` acts, `viewer_token` looks, and neither a page of another site nor a request of another
// form acts. Each attack leaves the organization as it was.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { sendRaw } from '../../support/raw.ts';

const ADMIN = 'an-admin-token-for-this-test';
const VIEWER = 'a-viewer-token-for-this-test';
const TOKENS = { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER };
const FORM = { 'X-Console-Action': '1', 'Content-Type': 'application/json' };
const EVIL = 'https://evil.example.com';

type Headers = Record<string, string>;

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const suspendBody = (more = {}) => JSON.stringify({ target: 'org_test', dry_run: false, ...more });

/** Sends the request as it is: fetch would change some of its headers. */
async function post(
  { adminUrl }: TestGateway,
  headers: Headers,
  { body = suspendBody(), path = '/console/actions/suspend-organization', method = 'POST' } = {},
) {
  const { port } = new URL(adminUrl);
  const lines = Object.entries({
    Host: `127.0.0.1:${port}`,
    Connection: 'close',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await sendRaw(Number(port), `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  const { code } = JSON.parse(answer.body || '{}') as { readonly code?: string };
  return { ...answer, code };
}

async function stateOf({ store }: TestGateway): Promise<string | undefined> {
  return (await store.organizations.get('org_test'))?.state;
}

async function stays({ store }: TestGateway, during: () => Promise<void>): Promise<void> {
  const { latest } = await store.audit.since(Number.MAX_SAFE_INTEGER, 1);
  await during();
  assert.equal((await store.audit.since(Number.MAX_SAFE_INTEGER, 1)).latest, latest, 'nothing was changed');
}

/** What pages of other sites, and of other ports, can make a browser send: form, image, fetch with and without cors, and a navigation. */
const foreign: Record<string, { headers: Headers; status: number; method?: string; body?: string }> = {
  'a form': {
    headers: { Origin: EVIL, 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'target=org_test&dry_run=false',
    status: 403,
  },
  'a form in a sandboxed frame': {
    headers: { Origin: 'null', 'Content-Type': 'text/plain' },
    status: 403,
  },
  'a form that opens the page': {
    headers: {
      Origin: EVIL,
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
      'Content-Type': 'text/plain',
    },
    status: 403,
  },
  'fetch without cors': {
    headers: {
      Origin: EVIL,
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'no-cors',
      'Content-Type': 'text/plain',
    },
    status: 403,
  },
  'fetch of a browser that sends no Origin': {
    headers: { ...FORM, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors' },
    status: 403,
  },
  'fetch of another port of the same host': {
    headers: { ...FORM, Origin: 'http://127.0.0.1:3000', 'Sec-Fetch-Site': 'same-site' },
    status: 403,
  },
  'fetch of another port, without Origin': { headers: { ...FORM, 'Sec-Fetch-Site': 'same-site' }, status: 403 },
  'fetch of no page at all': { headers: { ...FORM, 'Sec-Fetch-Site': 'none' }, status: 403 },
  'a preflight': {
    headers: {
      Origin: EVIL,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type,x-console-action',
    },
    method: 'OPTIONS',
    body: '',
    status: 403,
  },
  'a preflight without Origin': {
    headers: { 'Sec-Fetch-Site': 'cross-site', 'Access-Control-Request-Method': 'POST' },
    method: 'OPTIONS',
    body: '',
    status: 403,
  },
  'an image': {
    headers: { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' },
    method: 'GET',
    body: '',
    status: 403,
  },
};

/** Of the page's own origin, but in another form than the page's. */
const malformed: Record<string, { headers?: Headers; body?: string; path?: string; method?: string; status: number }> =
  {
    'the own header is missing': { headers: { 'Content-Type': 'application/json' }, status: 415 },
    'the type is text': { headers: { 'X-Console-Action': '1', 'Content-Type': 'text/plain' }, status: 415 },
    'the type only begins like JSON': {
      headers: { 'X-Console-Action': '1', 'Content-Type': 'application/jsonx' },
      status: 415,
    },
    'there is no type': { headers: { 'X-Console-Action': '1' }, status: 415 },
    'there is no body': { body: '', status: 400 },
    'the body is no JSON': { body: '{"target":"org_test"', status: 400 },
    'the body is a list': { body: '["org_test"]', status: 400 },
    'the body is null': { body: 'null', status: 400 },
    'the body is large': { body: suspendBody({ target: 'x'.repeat(5000) }), status: 413 },
    'dry_run is missing': { body: '{"target":"org_test"}', status: 400 },
    'dry_run is misspelled': { body: '{"target":"org_test","dry_run":false,"dryRun":true}', status: 400 },
    'dry_run is a text': { body: suspendBody({ dry_run: 'true' }), status: 400 },
    'the target is missing': { body: '{"dry_run":false}', status: 400 },
    'the target is a list': { body: suspendBody({ target: ['org_test'] }), status: 400 },
    'the target has a newline': { body: suspendBody({ target: 'org_test\n' }), status: 400 },
    'the target is unknown': { body: suspendBody({ target: 'org_other' }), status: 404 },
    'the target is a member of every object': { body: suspendBody({ target: '__proto__' }), status: 404 },
    'a member is a prototype': { body: '{"__proto__":{"dry_run":false},"target":"org_test"}', status: 400 },
    'a member belongs to another action': { body: suspendBody({ tier: 'standard' }), status: 400 },
    'the state has changed since': { body: suspendBody({ if_match: 'something-else' }), status: 412 },
    'the action is unknown': { path: '/console/actions/delete-organization', status: 404 },
    'the action is a member of every object': { path: '/console/actions/constructor', status: 404 },
    'the path is longer': { path: '/console/actions/suspend-organization/now', status: 404 },
    'the method is PUT': { method: 'PUT', status: 404 },
    'the method is GET': { method: 'GET', status: 404 },
  };

describe('the admin listener off loopback', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ environment: { ADMIN_HOST: '0.0.0.0', ...TOKENS } });
    await gateway.issueKey();
  });
  after(() => gateway.stop());
  const get = (path: string, headers: Headers = {}) => supertest(gateway.adminUrl).get(path).set(headers);

  const reading = ['/metrics', '/status', '/versions', '/console/feed', '/console/organizations', '/console/in-force'];
  for (const path of [...reading, '/console/session', '/limits?organization=org_test'])
    it(`answers ${path} to both tokens, and to nothing else`, async () => {
      await get(path, bearer(ADMIN)).expect(200);
      await get(path, bearer(VIEWER)).expect(200);
      await get(path, { Authorization: `bearer   ${VIEWER}` }).expect(200);
      const wrong = ['', 'Bearer', 'Bearer ', `Bearer ${VIEWER}x`, `Bearer ${VIEWER.slice(0, -1)}`, `Basic ${VIEWER}`];
      for (const authorization of [...wrong, `Bearer ${VIEWER}, Bearer ${ADMIN}`])
        await get(path, { Authorization: authorization })
          .expect(401)
          .expect('www-authenticate', /^Bearer/);
      await get(path).expect(401);
      await get(path).set('Cookie', `viewer_token=${VIEWER}`).expect(401);
      await get(`${path}${path.includes('?') ? '&' : '?'}token=${VIEWER}`).expect(401);
    });

  for (const path of [
    '/limits/reset?organization=org_test',
    '/upstreams/retry?upstream=platform',
    '/console/actions/suspend-organization',
  ])
    it(`refuses ${path} to the viewer, and says what is missing`, async () => {
      await stays(gateway, async () => {
        const answer = await supertest(gateway.adminUrl)
          .post(path)
          .set({ ...FORM, ...bearer(VIEWER) })
          .send({ target: 'org_test', dry_run: true })
          .expect(403);
        assert.deepEqual(answer.body, {
          code: 'admin_token_required',
          error: 'This token only looks: this needs the admin token, or that of an operator who may act.',
        });
        for (const headers of [{}, bearer('wrong')])
          await supertest(gateway.adminUrl)
            .post(path)
            .set({ ...FORM, ...headers })
            .send({ target: 'org_test', dry_run: false })
            .expect(401);
      });
    });

  it('tells each token its role', async () => {
    const roleOf = async (token: string) => (await get('/console/session', bearer(token)).expect(200)).body;
    assert.deepEqual(await roleOf(ADMIN), { role: 'admin', name: 'admin_token', has_token: true, can_act: true });
    assert.deepEqual(await roleOf(VIEWER), { role: 'viewer', name: 'viewer_token', has_token: true, can_act: true });
  });

  for (const [name, { headers, status, ...request }] of Object.entries(foreign))
    it(`refuses ${name} of another site, with every token and without`, async () => {
      await stays(gateway, async () => {
        for (const token of [{}, bearer(ADMIN), bearer(VIEWER), { ...bearer(ADMIN), ...FORM }]) {
          const sent = { ...token, ...headers };
          const answer = await post(gateway, sent, request);
          assert.equal(answer.status, status, JSON.stringify(sent));
          assert.doesNotMatch(answer.text, /access-control/i);
        }
      });
    });

  for (const [name, { headers = FORM, status, ...request }] of Object.entries(malformed))
    it(`refuses an action of the admin if ${name}`, async () => {
      await stays(gateway, async () => {
        const answer = await post(gateway, { ...headers, ...bearer(ADMIN) }, request);
        assert.equal(answer.status, status);
      });
    });

  it('acts for the page itself, and for a program without an origin', async () => {
    const { host, origin } = new URL(gateway.adminUrl);
    const page = { Host: host, Origin: origin, 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'cors' };
    assert.equal((await post(gateway, { ...page, ...FORM, ...bearer(ADMIN) })).status, 200);
    assert.equal(await stateOf(gateway), 'suspended');
    const path = '/console/actions/resume-organization';
    assert.equal((await post(gateway, { ...FORM, ...bearer(ADMIN) }, { path })).status, 200);
    assert.equal(await stateOf(gateway), 'active');
  });

  it('lets a link of another site open the page, and nothing else load it', async () => {
    const from = { 'Sec-Fetch-Site': 'cross-site' };
    await get('/', { ...from, ...bearer(VIEWER), 'Sec-Fetch-Mode': 'navigate' }).expect(200);
    for (const path of ['/', '/metrics', '/status'])
      await get(path, { ...from, ...bearer(VIEWER), 'Sec-Fetch-Mode': 'no-cors' }).expect(403);
  });
});

describe('the admin listener on loopback', () => {
  const startWith = async (environment: Record<string, string>, work: (gateway: TestGateway) => Promise<void>) => {
    const gateway = await startGateway({ environment });
    try {
      await gateway.issueKey();
      await work(gateway);
    } finally {
      await gateway.stop();
    }
  };
  const session = async ({ adminUrl }: TestGateway, headers: Headers = {}) =>
    (await supertest(adminUrl).get('/console/session').set(headers).expect(200)).body;
  const reset = ({ adminUrl }: TestGateway, headers: Headers = {}) =>
    supertest(adminUrl).post('/limits/reset?organization=org_test').set(headers);

  it('shows everything without a token, and acts with the admin token only', () =>
    startWith(TOKENS, async (gateway) => {
      await supertest(gateway.adminUrl).get('/status').expect(200);
      assert.deepEqual(await session(gateway), { role: 'viewer', name: null, has_token: false, can_act: true });
      assert.deepEqual(await session(gateway, bearer('wrong')), {
        role: 'viewer',
        name: null,
        has_token: false,
        can_act: true,
      });
      await stays(gateway, async () => {
        assert.equal((await post(gateway, FORM)).status, 401);
        assert.equal((await post(gateway, { ...FORM, ...bearer('wrong') })).status, 401);
        assert.equal((await post(gateway, { ...FORM, ...bearer(VIEWER) })).status, 403);
        await reset(gateway).expect(401);
        await reset(gateway, bearer(VIEWER)).expect(403);
      });
      await reset(gateway, bearer(ADMIN)).expect(200);
      assert.equal((await post(gateway, { ...FORM, ...bearer(ADMIN) })).status, 200);
    }));

  it('without an admin token the console only looks, and users of the machine reset limits by command', () =>
    startWith({}, async (gateway) => {
      assert.deepEqual(await session(gateway), { role: 'viewer', name: null, has_token: false, can_act: false });
      await stays(gateway, async () => {
        assert.deepEqual((await post(gateway, FORM)).code, 'admin_token_unset');
        assert.deepEqual((await post(gateway, { ...FORM, ...bearer('') })).code, 'admin_token_unset');
        await reset(gateway, { Origin: EVIL }).expect(403);
        await reset(gateway, { 'Sec-Fetch-Site': 'same-site' }).expect(403);
      });
      await reset(gateway).expect(200);
    }));

  it('with a viewer token alone, none may act', () =>
    startWith({ VIEWER_TOKEN: VIEWER }, async (gateway) => {
      assert.equal((await post(gateway, { ...FORM, ...bearer(VIEWER) })).code, 'admin_token_required');
      await reset(gateway, bearer(VIEWER)).expect(403);
    }));
});

describe('operators with names', () => {
  const [anna, bob] = ['anna-has-a-token-of-her-own', 'bob-has-a-token-of-his-own'];
  const OPERATOR_TOKENS = `# who does what\nanna act ${anna}\n\nbob  look\t${bob}\n`;
  const act = (gateway: TestGateway, token: string) => post(gateway, { ...FORM, ...bearer(token) });

  it('may do what their line says, and the audit log names them', async () => {
    const gateway = await startGateway({ environment: { OPERATOR_TOKENS } });
    try {
      await gateway.issueKey({ organization: 'org_test' });
      assert.deepEqual([(await act(gateway, bob)).status, (await act(gateway, 'c'.repeat(20))).status], [403, 401]);
      assert.equal((await act(gateway, anna)).status, 200);
      assert.equal(await stateOf(gateway), 'suspended');
      const [change] = await gateway.store.audit.list({ organization: 'org_test', limit: 1 });
      assert.deepEqual([change?.by, change?.kind], ['anna', 'organization.suspended']);
      const session = async (token: string) =>
        (await supertest(gateway.adminUrl).get('/console/session').set(bearer(token)).expect(200)).body;
      assert.deepEqual(await session(bob), { role: 'viewer', name: 'bob', has_token: true, can_act: true });
      assert.deepEqual(await session(anna), { role: 'admin', name: 'anna', has_token: true, can_act: true });
      // The form that no other page can send is required of them, too.
      assert.equal((await post(gateway, { ...bearer(anna), 'Content-Type': 'text/plain' })).status, 415);
    } finally {
      await gateway.stop();
    }
  });

  it('are needed off loopback, where bob may look', async () => {
    const gateway = await startGateway({ environment: { OPERATOR_TOKENS, ADMIN_HOST: '0.0.0.0' } });
    try {
      const statusOf = async (headers: Headers) =>
        (await supertest(gateway.adminUrl).get('/status').set(headers)).status;
      assert.deepEqual([await statusOf({}), await statusOf(bearer(bob)), await statusOf(bearer('x'))], [401, 200, 401]);
      // Trying a request out is looking: it needs a token here, and no right to act.
      const tried = { path: '/console/explain', body: JSON.stringify({ method: 'GET', target: '/' }) };
      assert.equal((await post(gateway, FORM, tried)).status, 401);
      assert.equal((await post(gateway, { ...FORM, ...bearer(bob) }, tried)).status, 200);
    } finally {
      await gateway.stop();
    }
  });
});
