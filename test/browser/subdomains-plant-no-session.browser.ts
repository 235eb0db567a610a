// Cookie tossing: a page of a subdomain that others own sets cookies for the whole domain, before and after a login, to sign a person in as
// somebody else or to put an own id in the place of that of the person. A real browser keeps those of usual names, and none of this name.

import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import { createAuthority } from '../support/certificates.ts';
import { type SessionGateway, startSessionGateway } from '../support/sessions.ts';
import { type Browser, launchBrowser } from './browser.ts';

const DOMAIN = 'platform.test';
const APP = `app.${DOMAIN}`;
const NAME = '__Host-Http-gateway-session';
const PLANTED = 'P'.repeat(43);
const tossed = [
  `control=tossed; Domain=${DOMAIN}; Path=/; Secure`,
  `${NAME}=${PLANTED}; Domain=${DOMAIN}; Path=/; Secure; HttpOnly`,
  `${NAME.toLowerCase()}=${PLANTED}; Domain=${DOMAIN}; Path=/; Secure; HttpOnly`,
  // Some servers read a cookie without a name as one with.
  `=${NAME}=${PLANTED}; Domain=${DOMAIN}; Path=/; Secure; HttpOnly`,
  `gateway-session=${PLANTED}; Domain=${DOMAIN}; Path=/; Secure`,
];

describe('a subdomain of others', () => {
  let world: SessionGateway;
  let evil: Awaited<ReturnType<typeof startEvil>>;
  let browser: Browser;
  let context: BrowserContext;

  before(async () => {
    world = await startSessionGateway({
      ...{ secure: true, hostName: APP, sessions: { afterLogin: '/app/home' } },
      things: { tunnels: [{ paths: ['/app/*'], pages: true }] },
      answer: (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
    });
    evil = await startEvil();
    browser = await launchBrowser(`--host-resolver-rules=MAP *.${DOMAIN} 127.0.0.1`);
    context = await browser.newContext({ ignoreHTTPSErrors: true });
  });
  after(async () => {
    await browser?.close();
    evil?.close();
    await world?.close();
  });

  /** What the application sees of the person, after the subdomain has tossed its cookies. */
  async function toss(): Promise<{ readonly status: number; readonly who: string }> {
    const page = await context.newPage();
    await page.goto(evil.url);
    await page.goto(`${world.origin}/app/home`);
    const names = (await context.cookies(world.origin)).map(({ name }) => name);
    assert.ok(names.includes('control'), 'the browser takes cookies of the subdomain');
    return page.evaluate(`fetch('/session').then(async (answer) => {
      const { subject, error } = await answer.json();
      return { status: answer.status, who: subject ?? error.code };
    })`);
  }

  it('signs no person in', async () => {
    assert.deepEqual(await toss(), { status: 401, who: 'session_required' });
  });

  it('does not disturb a login, nor the session that follows', async () => {
    const page = await context.newPage();
    await page.goto(`${world.origin}/session/login`);
    await page.waitForURL(`${world.origin}/app/home`);
    assert.deepEqual(await toss(), { status: 200, who: 'ada' });
    const ours = (await context.cookies(world.origin)).filter(({ name }) => name === NAME);
    assert.equal(ours.length, 1);
    assert.notEqual(ours[0]?.value, PLANTED);
    const upstreamCookies = world.upstream.requests.map(({ headers }) => headers.cookie ?? '').join();
    assert.ok(!upstreamCookies.includes(NAME));
  });
});

async function startEvil() {
  const host = `evil.${DOMAIN}`;
  const { certificate: cert, key } = createAuthority().issue({ names: [host] });
  const server = createServer({ cert, key }, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': tossed }).end('<!doctype html><body>evil');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `https://${host}:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}
