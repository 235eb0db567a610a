// A session that nothing uses ends, and one that is used ends when its time is over: the clock of the gateway is set forward.

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/instances.ts';
import { startSessionGateway } from '../../support/sessions.ts';

const IDLE_SECONDS = 600;
const ABSOLUTE_SECONDS = 1500;

let aheadMs = 0;
const running = await startSessionGateway({
  sessions: { idleSeconds: IDLE_SECONDS, absoluteSeconds: ABSOLUTE_SECONDS },
  now: () => Date.now() + aheadMs,
});
const { origin } = running;
after(running.close);

type Browser = Awaited<ReturnType<typeof running.signIn>>;
const codeOf = async (browser: Browser) => (await browser.fetch(`${origin}/session`)).body.error?.code;
const isExpired = async (browser: Browser) => (await codeOf(browser)) === 'session_expired';
/** Uses the session until the use is stored, which takes up to a second of the machine, however far the clock was set. */
async function use(browser: Browser, message?: string): Promise<void> {
  assert.equal(await codeOf(browser), undefined, message);
  const at = new Date(Date.now() + aheadMs - 60_000).toISOString();
  await eventually(async () => {
    const { body } = await browser.fetch(`${origin}/session/list`);
    return body.data?.some((session: { current: boolean; used_at: string }) => session.current && session.used_at > at);
  });
}

it('idle, or at its absolute end', async () => {
  const [used, unused] = [await running.signIn(), await running.signIn()];
  aheadMs += (IDLE_SECONDS - 60) * 1000;
  await use(used);
  aheadMs += (IDLE_SECONDS - 60) * 1000;
  await eventually(() => isExpired(unused));
  await use(used, 'a use prolongs a session');
  aheadMs += (ABSOLUTE_SECONDS - 2 * IDLE_SECONDS) * 1000;
  assert.equal(await codeOf(used), undefined);
  aheadMs += 180_000;
  await eventually(() => isExpired(used));
});

const cookieOf = (browser: Browser, at: string) =>
  [...browser.cookies(at)].map(([name, { value }]) => `${name}=${value}`).join('; ');

it('keeps the idle time of its login after the setting has changed', async () => {
  const environment = { GATEWAY_DATA: temporaryDirectory() };
  const before = await startSessionGateway({ environment, sessions: { idleSeconds: 600 } });
  const earlier = cookieOf(await before.signIn(), before.origin);
  await before.close();
  const changed = await startSessionGateway({ environment, sessions: { idleSeconds: 900 } });
  try {
    const browser = await changed.signIn();
    const later = cookieOf(browser, changed.origin);
    const idleSecondsOf = async (cookie: string) =>
      (await browser.fetch(`${changed.origin}/session`, { headers: { cookie } })).body.idle_seconds;
    assert.deepEqual([await idleSecondsOf(earlier), await idleSecondsOf(later)], [600, 900]);
  } finally {
    await changed.close();
  }
});
