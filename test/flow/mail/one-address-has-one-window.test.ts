// With a host name of its own the mail server has more tunnels: calendars, the settings of programs. An address has one window of requests
// for those that belong together, whichever of the host names and tunnels it uses.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { shippedEntry, startMailWorld } from '../../support/mail.ts';

const REQUESTS = 6;

describe('an address', () => {
  let world: Awaited<ReturnType<typeof startMailWorld>>;
  before(async () => {
    const { tunnels } = shippedEntry() as { tunnels: { limits: object }[] };
    const few = tunnels.map((tunnel) => ({ ...tunnel, limits: { ...tunnel.limits, requests: REQUESTS } }));
    const hosts = { mail: 'mail.test', jmap: 'jmap.test', autoconfig: 'autoconfig.test', panel: 'panel.test' };
    const gateway = { publicUrl: 'http://api.test', hosts, trustedProxies: ['127.0.0.1'] };
    world = await startMailWorld({ tunnels: few }, { gateway });
  });
  after(() => world.stop());

  /** How many of 30 requests pass, each at the next of the places. */
  async function passing(address: string, places: readonly (readonly [line: string, host: string])[]): Promise<number> {
    let passed = 0;
    for (let i = 0; i < 30; i++) {
      const [line, Host] = places[i % places.length] as (typeof places)[number];
      const headers = { Host, 'X-Forwarded-For': address, Authorization: undefined };
      const { status } = await world.call(line, undefined, headers);
      if (status !== 429) passed += 1;
    }
    return passed;
  }

  it('has one window for JMAP and calendars on all host names', async () => {
    const places = [
      ['GET /jmap/session', 'jmap.test'],
      ['GET /.well-known/caldav', 'mail.test'],
      ['GET /jmap/session', 'mail.test'],
      ['GET /jmap/session', 'api.test'],
      ['PROPFIND /dav/cal/', 'mail.test'],
    ] as const;
    assert.equal(await passing('192.0.2.1', places), REQUESTS);
    assert.equal(await passing('192.0.2.2', [['GET /jmap/session', 'api.test']]), REQUESTS, 'another address');
  });

  it('has another one for all that is answered without a login', async () => {
    const places = [
      ['GET /.well-known/openid-configuration', 'mail.test'],
      ['GET /mail/config-v1.1.xml?emailaddress=a%40b.test', 'autoconfig.test'],
      ['GET /mail/config-v1.1.xml?emailaddress=a%40b.test', 'mail.test'],
      ['GET /.well-known/mta-sts.txt', 'mail.test'],
      ['GET /.well-known/acme-challenge/x', 'mail.test'],
      ['GET /authorize', 'mail.test'],
    ] as const;
    assert.equal(await passing('192.0.2.1', places), REQUESTS);
  });
});
