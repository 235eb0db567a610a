// Sessions are taken over by more ways than any other credential, because a browser sends a cookie by itself. The table: fixing an id
// before the login, letting another page make the request (form, fetch, image, WebSocket, frame), sending the person elsewhere afterwards,
// mixing up providers, replaying code, state and logout token, planting cookies from a subdomain or through a service, reading ids in
// addresses, referrers and logs, filling headers with cookies, and providers that hang, answer garbage or redirect. Each row ends at its
// refusal.

import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { after, afterEach, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { createCookieBrowser } from '../support/cookie-browser.ts';
import { eventually } from '../support/instances.ts';
import { startSessionGateway } from '../support/sessions.ts';

const running = await startSessionGateway({
  entry: { timeoutMs: 500 },
  // The service tries to plant a session.
  answer(_request, response) {
    const planted = [`gateway-session=${'P'.repeat(43)}; Path=/`, '__Host-Http-gateway-session=x; Path=/; Secure'];
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': planted });
    response.end('{}');
  },
  upstreams: {},
  things: { tunnels: [{ paths: ['/raw/*'] }] },
});
const { gateway, provider, upstream, origin } = running;
after(running.close);
afterEach(() => {
  provider.person = { subject: 'ada', claims: { org: 'org_test' } };
});

const login = `${origin}/session/login`;
const callback = `${origin}/session/callback`;
const NAME = 'gateway-session';

/** A login up to the way back: the address that the provider sends the browser to. */
async function untilCallback(browser = createCookieBrowser(), query = '') {
  let answer = await browser.step(login + query, 'none');
  for (let hops = 0; hops < 10; hops += 1) {
    const address = new URL(answer.headers.get('location') ?? '', answer.url).href;
    if (address.startsWith(callback)) return { browser, address };
    answer = await browser.step(address, 'cross-site');
  }
  return assert.fail('the provider does not send the browser back');
}

const cookieOf = async () => {
  const browser = await running.signIn();
  return `${NAME}=${browser.cookies(origin).get(NAME)?.value}`;
};
const ask = (path: string, headers: Record<string, string>, method = 'GET', body?: string) =>
  fetch(origin + path, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
const codeOf = async (answer: Response) =>
  answer.headers.get('x-error-code') ?? `${answer.status} ${(await answer.text()).slice(0, 80)}`;
const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' };

describe('fixation', () => {
  it('an id from before the login is worth nothing afterwards', async () => {
    const browser = createCookieBrowser();
    const planted = 'F'.repeat(43);
    browser.cookies(origin).set(NAME, { value: planted, sameSite: 'Lax', line: '' });
    assert.equal((await browser.open(login)).status, 200);
    assert.notEqual(browser.cookies(origin).get(NAME)?.value, planted);
    assert.equal(await codeOf(await ask('/session', { ...own, cookie: `${NAME}=${planted}` })), 'session_expired');
  });

  it('a victim that is sent through the login of an attacker gets no session', async () => {
    const { address } = await untilCallback();
    const victim = createCookieBrowser();
    const arrived = await victim.step(address, 'cross-site');
    assert.equal(arrived.headers.get('x-error-code'), 'login_failed');
    assert.equal(victim.cookies(origin).size, 0);
  });

  it('a service plants no session, by an operation or through a tunnel', async () => {
    for (const path of ['/v1/things', '/raw/x']) {
      const answer = await ask(path, { ...own, cookie: await cookieOf() });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.headers.getSetCookie(), []);
    }
  });

  it('two session cookies count as none, because an attacker may have set one', async () => {
    const cookie = await cookieOf();
    for (const both of [`${cookie}; ${NAME}=${'X'.repeat(43)}`, `${NAME}=${'X'.repeat(43)}; ${cookie}`])
      assert.equal(await codeOf(await ask('/session', { ...own, cookie: both })), 'session_required');
  });
});

describe('requests of other pages', () => {
  const elsewhere: Readonly<Record<string, Record<string, string>>> = {
    form: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', origin: 'https://evil.example' },
    fetch: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: 'https://evil.example' },
    image: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    frame: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    subdomain: { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', origin: 'https://sub.evil.example' },
    'old browser': { origin: 'https://evil.example' },
    'old browser without an origin': {},
    'event stream': { 'sec-fetch-site': 'cross-site', accept: 'text/event-stream', origin: 'https://evil.example' },
  };
  for (const [what, headers] of Object.entries(elsewhere)) {
    it(`${what}: the session is not used`, async () => {
      const cookie = await cookieOf();
      const before = upstream.requests.length;
      for (const [method, path] of [
        ['GET', '/v1/things'],
        ['POST', '/v1/things'],
        ['POST', '/session/logout'],
      ] as const) {
        const body = method === 'POST' && path === '/v1/things' ? '{"name":"x"}' : undefined;
        const answer = await ask(path, { ...headers, cookie, 'content-type': 'application/json' }, method, body);
        assert.equal(await codeOf(answer), 'cross_site_request', `${method} ${path}`);
      }
      assert.equal(upstream.requests.length, before);
      assert.equal((await ask('/session', { ...own, cookie })).status, 200, 'it lives on');
    });
  }

  it('no answer can be framed or read by another origin', async () => {
    const answer = await ask('/session', { ...own, cookie: await cookieOf(), origin: 'https://evil.example' });
    assert.equal(answer.headers.get('access-control-allow-origin'), null);
    assert.match(answer.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  });

  it('a key beside the cookie decides alone', async () => {
    const { authorization } = await gateway.authorize({ scopes: ['things:read'] });
    const cookie = await cookieOf();
    // No session is read, so there is nothing to protect.
    assert.equal((await ask('/v1/things', { authorization, cookie, 'sec-fetch-site': 'cross-site' })).status, 200);
    assert.equal(
      await codeOf(await ask('/v1/things', { authorization: 'Bearer nonsense', ...own, cookie })),
      'api_key_malformed',
    );
    assert.equal(await codeOf(await ask('/session', { authorization, ...own, cookie })), 'auth_scheme_unsupported');
  });
});

describe('the way back', () => {
  for (const path of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/%09/evil.example',
    '/.//evil.example',
    '/session/logout',
  ])
    it(`does not lead to ${path}`, async () => {
      const query = path.includes('%09') ? '/\t/evil.example' : path;
      const answer = await ask(`/session/login?return_to=${encodeURIComponent(query)}`, {});
      assert.equal(await codeOf(answer), 'return_to_invalid');
      assert.equal(answer.headers.get('location'), null);
    });

  it('what an attacker writes into the callback is not shown', async () => {
    const text = '<script>alert(1)</script>';
    const { browser, address } = await untilCallback();
    const state = new URL(address).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ state, error: text, error_description: text, iss: provider.issuer });
    const answer = await browser.step(`${callback}?${query}`, 'cross-site');
    assert.equal(answer.status, 400);
    assert.ok(!answer.text.includes('alert(1)'));
    assert.match(answer.text, /req_\w+/);
  });
});

describe('mix-up and replay', () => {
  const tampered: Readonly<Record<string, (query: URLSearchParams) => void>> = {
    'another issuer': (query) => query.set('iss', 'https://evil.example'),
    'no issuer': (query) => query.delete('iss'),
    'two issuers': (query) => query.append('iss', 'https://evil.example'),
    'another code': (query) => query.set('code', randomBytes(16).toString('hex')),
    'no code': (query) => query.delete('code'),
    'two codes': (query) => query.append('code', 'x'),
    'another state': (query) => query.set('state', 'x'.repeat(43)),
    'no state': (query) => query.delete('state'),
    'two states': (query) => query.append('state', 'x'),
    'a token instead of a code': (query) => {
      query.delete('code');
      query.set('id_token', 'eyJhbGciOiJub25lIn0.e30.');
    },
  };
  for (const [what, change] of Object.entries(tampered)) {
    it(`${what}: no session`, async () => {
      const { browser, address } = await untilCallback();
      const url = new URL(address);
      change(url.searchParams);
      const answer = await browser.step(url.href, 'cross-site');
      assert.ok(['login_failed', 'validation_failed'].includes(answer.headers.get('x-error-code') ?? ''), answer.text);
      assert.equal(browser.cookies(origin).has(NAME), false);
    });
  }

  it('a callback that has been used signs in no person again', async () => {
    const { browser, address } = await untilCallback();
    const copy = new Map(browser.cookies(origin));
    assert.equal((await browser.step(address, 'cross-site')).status, 200);
    // The thief has the cookies of the login, too.
    const thief = createCookieBrowser();
    for (const [name, kept] of copy) thief.cookies(origin).set(name, kept);
    const answer = await thief.step(address, 'cross-site');
    assert.equal(answer.headers.get('x-error-code'), 'login_failed');
    assert.equal(thief.cookies(origin).has(NAME), false);
  });

  it('a code of one login does not fit the cookie of another', async () => {
    const one = await untilCallback();
    const other = await untilCallback();
    const url = new URL(one.address);
    url.searchParams.set('code', new URL(other.address).searchParams.get('code') ?? '');
    assert.equal((await one.browser.step(url.href, 'cross-site')).headers.get('x-error-code'), 'login_failed');
  });
});

describe('logout tokens', () => {
  const send = (token: string) =>
    ask(
      '/session/backchannel-logout',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'POST',
      new URLSearchParams({ logout_token: token }).toString(),
    );
  const seconds = () => Math.floor(Date.now() / 1000);
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const forged: Readonly<Record<string, () => Promise<string> | string>> = {
    'no token at all': () => 'x',
    'three dots': () => '...',
    'no signature': () =>
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ iss: provider.issuer, sub: 'ada' })).toString('base64url')}.`,
    'the key of another': () =>
      new SignJWT({
        iss: provider.issuer,
        aud: 'gateway',
        sub: 'ada',
        jti: 'x',
        iat: seconds(),
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      })
        .setProtectedHeader({ alg: 'RS256', kid: 'provider-1' })
        .sign(foreign),
    'another issuer': () => provider.logoutToken({ sub: 'ada', iss: 'https://evil.example' }),
    'another client': () => provider.logoutToken({ sub: 'ada', aud: 'other' }),
    'an ID token': () => provider.logoutToken({ sub: 'ada', events: undefined, nonce: 'x' }),
    'a nonce': () => provider.logoutToken({ sub: 'ada', nonce: 'x' }),
    'another event': () =>
      provider.logoutToken({ sub: 'ada', events: { 'http://schemas.openid.net/event/other': {} } }),
    'events of a prototype': () => provider.logoutToken({ sub: 'ada', events: [] }),
    'no jti': () => provider.logoutToken({ sub: 'ada', jti: undefined }),
    'no iat': () => provider.logoutToken({ sub: 'ada', iat: undefined }),
    'an old one': () => provider.logoutToken({ sub: 'ada', iat: seconds() - 3600, exp: seconds() + 3600 }),
    'one of the future': () => provider.logoutToken({ sub: 'ada', iat: seconds() + 3600, exp: seconds() + 7200 }),
    'an expired one': () => provider.logoutToken({ sub: 'ada', exp: seconds() - 60 }),
    'neither subject nor session': () => provider.logoutToken({}),
    'a subject that is no text': () => provider.logoutToken({ sub: 'ada', sid: 7 }),
  };

  for (const [what, token] of Object.entries(forged)) {
    it(`${what}: ends nothing`, async () => {
      const cookie = await cookieOf();
      assert.equal(await codeOf(await send(await token())), 'logout_token_invalid');
      assert.equal((await ask('/session', { ...own, cookie })).status, 200);
    });
  }

  it('a sound one ends the sessions of the subject, once', async () => {
    const cookie = await cookieOf();
    const token = await provider.logoutToken({ sub: 'ada' });
    assert.equal((await send(token)).status, 200);
    assert.equal(await codeOf(await ask('/session', { ...own, cookie })), 'session_expired');
    const later = await cookieOf();
    assert.equal(await codeOf(await send(token)), 'logout_token_invalid');
    assert.equal((await ask('/session', { ...own, cookie: later })).status, 200, 'a replay ends no later session');
  });
});

describe('an end during a login', () => {
  it('by the provider: no session', async () => {
    const { browser, address } = await untilCallback();
    const body = new URLSearchParams({ logout_token: await provider.logoutToken({ sub: 'ada' }) });
    assert.equal((await fetch(`${origin}/session/backchannel-logout`, { method: 'POST', body })).status, 200);
    const answer = await browser.step(address, 'cross-site');
    assert.match(answer.text, /You were signed out before the sign-in was complete/);
    assert.equal(browser.cookies(origin).has(NAME), false);
  });

  it('makes no session while the organization is suspended', async () => {
    const { organizations } = gateway.store;
    await organizations.suspend('org_test', 'a test');
    const says = /Your organization is suspended/;
    await eventually(async () => says.test((await createCookieBrowser().open(login)).text));
    await organizations.resume('org_test', 'a test');
    await eventually(async () => (await createCookieBrowser().open(login)).status === 200);
  });
});

describe('ids and tokens', () => {
  it('stand in no log line, no address, no header of a service', async () => {
    const { browser, address } = await untilCallback();
    assert.equal((await browser.step(address, 'cross-site')).status, 200);
    const value = browser.cookies(origin).get(NAME)?.value ?? assert.fail();
    const cookie = `a=1; ${NAME}=${value}; gateway-login-x=1`;
    const answers = [
      await ask('/v1/things', { ...own, cookie }),
      await ask('/raw/x', { ...own, cookie }),
      await ask('/session', { ...own, cookie }),
      await ask(`/v1/things?q=${value}x&nonsense`, { ...own, cookie }),
    ];
    for (const answer of answers) {
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      assert.ok(!(await answer.text()).includes(value));
    }
    const sent = JSON.stringify(
      upstream.requests.filter(({ url }) => !url.includes('?q=')).map(({ headers, url }) => ({ headers, url })),
    );
    assert.ok(!sent.includes(value));
    assert.ok(sent.includes('a=1'), 'other cookies pass a tunnel');
    const code = new URL(address).searchParams.get('code') ?? assert.fail();
    const lines = JSON.stringify(gateway.logLines());
    for (const secret of [value, code, new URL(address).searchParams.get('state') ?? '', provider.secret])
      assert.ok(!lines.includes(secret));
  });

  it('a session in an address opens nothing', async () => {
    const cookie = await cookieOf();
    const value = cookie.slice(NAME.length + 1);
    assert.equal(await codeOf(await ask(`/session?${NAME}=${value}`, own)), 'session_required');
    assert.equal(
      await codeOf(await ask('/session', { ...own, authorization: `Bearer ${value}` })),
      'api_key_malformed',
    );
  });

  it('the sessions of other people are unknown', async () => {
    const bob = await running.signIn('bob');
    const { id } = (await bob.fetch(`${origin}/session`)).body;
    const ada = await running.signIn('ada');
    assert.equal(
      (await ada.fetch(`${origin}/session/${id}`, { method: 'DELETE' })).body.error.code,
      'resource_missing',
    );
    const listed = (await ada.fetch(`${origin}/session/list`)).body.data as { id: string }[];
    assert.ok(listed.length > 0 && listed.every((one) => one.id !== id));
    assert.equal((await bob.fetch(`${origin}/session`)).status, 200);
  });
});

describe('too much', () => {
  it('cookies of logins that were given up do not fill the headers', async () => {
    const browser = createCookieBrowser();
    for (let tab = 0; tab < 30; tab += 1)
      assert.equal((await browser.step(`${login}?return_to=/${'a'.repeat(900)}`, 'none')).status, 303);
    const bytes = [...browser.cookies(origin)].reduce((sum, [name, { value }]) => sum + name.length + value.length, 0);
    assert.ok(bytes < 9000, String(bytes));
    assert.equal((await browser.open(login)).status, 200, 'the latest can be finished');
  });

  it('a cookie header of any size is read in proportion to it', async () => {
    const cookie = `${NAME}=; `.repeat(700);
    const startedAt = performance.now();
    assert.equal(await codeOf(await ask('/session', { ...own, cookie })), 'session_required');
    assert.ok(performance.now() - startedAt < 1000);
  });
});

describe('a provider that misbehaves', () => {
  const answers: Readonly<Record<string, readonly [RequestListener, code: string]>> = {
    hangs: [() => undefined, 'provider_unavailable'],
    'resets the connection': [(request) => request.socket.destroy(), 'provider_unavailable'],
    redirects: [
      (_request, response) => response.writeHead(302, { location: `${origin}/session` }).end(),
      'provider_unavailable',
    ],
    'answers 500': [(_request, response) => response.writeHead(500).end(), 'provider_unavailable'],
    'answers garbage': [
      (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"acc'),
      'login_failed',
    ],
    'answers HTML': [
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      'login_failed',
    ],
    'answers without end': [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '.repeat(65_536)), 1);
        response.on('close', () => clearInterval(timer));
      },
      'provider_unavailable',
    ],
    'answers an ID token with another signature': [
      (request, response) => {
        const end = response.end.bind(response);
        response.end = (body: unknown) => {
          const answer = JSON.parse(String(body));
          const [head, claims, signature = ''] = answer.id_token.split('.');
          answer.id_token = `${head}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
          return end(JSON.stringify(answer));
        };
        provider.provider.callback()(request, response);
      },
      'login_failed',
    ],
    'answers tokens without a subject': [
      (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"access_token":"x","token_type":"bearer"}'),
      'login_failed',
    ],
  };
  for (const [what, [answer, code]] of Object.entries(answers)) {
    it(`${what}: a page with the request id, and no session`, async () => {
      const { browser, address } = await untilCallback();
      provider.answers('/token', answer);
      try {
        const failed = await browser.step(address, 'cross-site');
        assert.equal(failed.headers.get('x-error-code'), code, failed.text);
        assert.match(failed.headers.get('content-type') ?? '', /^text\/html/);
        assert.match(failed.text, /Request id: <code>req_\w+/);
        assert.equal(browser.cookies(origin).has(NAME), false);
      } finally {
        provider.answers('/token', undefined);
      }
      assert.equal((await (await running.signIn()).fetch(`${origin}/session`)).status, 200);
    });
  }

  it('refuses a person: a page, and no session', async () => {
    provider.person = 'refuse';
    const browser = createCookieBrowser();
    const answer = await browser.open(login);
    assert.equal(answer.headers.get('x-error-code'), 'login_failed');
    assert.match(answer.text, /did not sign you in/);
  });

  for (const claims of [{}, { org: 'org_unknown' }, { org: ['org_test', 'org_other'] }, { org: 7 }])
    it(`names no known organization, ${JSON.stringify(claims)}: no session`, async () => {
      provider.person = { subject: `eve-${JSON.stringify(claims)}`.replace(/[^!-~]/g, ''), claims };
      const browser = createCookieBrowser();
      const answer = await browser.open(login);
      assert.equal(answer.headers.get('x-error-code'), 'login_not_permitted', answer.text);
      assert.equal(browser.cookies(origin).has(NAME), false);
    });
});
