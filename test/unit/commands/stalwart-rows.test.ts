import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { StalwartFacts } from '../../../gateway/commands/upstreams/stalwart/facts.ts';
import { type ExpectedSteps, stepRows } from '../../../gateway/commands/upstreams/stalwart/rows.ts';
import { tunnels } from '../../../gateway/config/upstreams/tunnels.ts';
import { shippedEntry } from '../../support/mail.ts';

const entry = { tunnels: tunnels.parse(shippedEntry().tunnels), maxInFlight: 4 };
const data = (value: unknown) => ({ status: 200, value: { data: value } });
const sound: StalwartFacts = {
  localAddress: '10.0.0.5',
  login: data({ items: [], total: 0 }),
  everyType: data({ items: [], total: 0 }),
  account: data({ roles: ['admin'] }),
  settings: data({ 'server.allowed-ip.10.0.0.0/24': '', 'http.use-x-forwarded': 'true' }),
  reload: data({ errors: {}, warnings: {} }),
  session: {
    status: 200,
    value: {
      apiUrl: 'https://mail.example.com/jmap/',
      capabilities: { 'urn:ietf:params:jmap:core': { maxConcurrentRequests: 4 } },
    },
  },
  keySet: { status: 200, value: { keys: [{ kty: 'EC' }] } },
};

function rowOf(step: string, facts: Partial<StalwartFacts>, expected: Partial<ExpectedSteps> = {}) {
  const steps = { entry, publicOrigins: ['https://mail.example.com'], user: 'gateway', secret: 'entry', ...expected };
  return stepRows({ ...sound, ...facts }, steps).find((row) => row.step === step) ?? assert.fail(step);
}
const verdictOf = (...of: Parameters<typeof rowOf>) => rowOf(...of).verdict;
const settings = (value: object) => ({ settings: data(value) });
const withTunnels = (yaml: string) => ({ entry: { ...entry, tunnels: tunnels.parse(parse(yaml)) } });

describe('a row', () => {
  it('holds for everything at a sound mail server, and has no line to change then', () => {
    for (const { step, verdict, change } of stepRows(sound, {
      ...{ entry, publicOrigins: ['https://mail.example.com'], user: 'gateway', secret: 'entry' },
    }))
      assert.deepEqual([verdict, change], ['holds', undefined], step);
  });

  it('of the allow list compares addresses and ranges of both families, and sees bans', () => {
    const listed = (localAddress: string, ...names: string[]) =>
      verdictOf('allow list', { localAddress, ...settings(Object.fromEntries(names.map((name) => [name, '']))) });
    assert.equal(listed('10.0.0.5', 'server.allowed-ip.10.0.0.5'), 'holds');
    assert.equal(listed('2001:db8::7', 'server.allowed-ip.2001:db8::/32'), 'holds');
    assert.equal(listed('127.0.0.1'), 'holds');
    for (const names of [
      [],
      ['server.allowed-ip.10.0.1.0/24'],
      ['server.allowed-ip.x/y', 'server.allowed-ip.10.0.0.5/99'],
    ])
      assert.equal(listed('10.0.0.5', ...names), 'does not hold', names.join());
    assert.equal(listed('10.0.0.5', 'server.allowed-ip.10.0.0.5', 'server.blocked-ip.10.0.0.5'), 'does not hold');
    assert.match(rowOf('allow list', settings({})).change ?? '', /"server\.allowed-ip\.10\.0\.0\.5",""/);
    assert.equal(verdictOf('allow list', { settings: { status: 403, value: {} } }), 'cannot be seen');
  });

  it('of failed logins adds the counters of a day up, unless the address is listed', () => {
    const unlisted = settings({});
    assert.match(
      rowOf('failed logins', unlisted).says,
      /^At most 90 failed logins a day reach it, those in flight included, and 100 ban/,
    );
    assert.equal(verdictOf('failed logins', settings({ 'server.auto-ban.auth.rate': '60/1d' })), 'does not hold');
    const unbounded = withTunnels('[{ paths: [/jmap/*] }]');
    assert.equal(verdictOf('failed logins', unlisted, unbounded), 'does not hold');
    assert.equal(verdictOf('failed logins', {}, unbounded), 'holds');
    const hourly = withTunnels('[{ paths: [/jmap/*], limits: { failuresTotal: 5, failuresWindowSeconds: 3600 } }]');
    assert.equal(verdictOf('failed logins', unlisted, hourly), 'does not hold');
  });

  it('of the key set holds for a symmetric key only where the tunnels do not pass it on', () => {
    const symmetric = { keySet: { status: 200, value: { keys: [{ kty: 'oct' }] } } };
    assert.equal(verdictOf('jwks', symmetric), 'holds');
    assert.equal(verdictOf('jwks', symmetric, withTunnels('[{ paths: [/auth/*] }]')), 'does not hold');
    assert.equal(verdictOf('jwks', symmetric, withTunnels('[{ paths: [/jmap/*] }]')), 'holds');
    assert.equal(verdictOf('jwks', { keySet: { status: 200, value: '<html>' } }), 'cannot be seen');
    assert.match(rowOf('jwks', {}).says, /can be removed from except/);
  });

  it('of the limits compares maxInFlight with what the mail server takes', () => {
    assert.equal(verdictOf('limits', {}, { entry: { ...entry, maxInFlight: 5 } }), 'does not hold');
    assert.equal(verdictOf('limits', settings({ 'jmap.protocol.request.max-concurrent': '2' })), 'does not hold');
    assert.equal(verdictOf('limits', { session: { status: 0, value: undefined, problem: 'x' } }), 'cannot be seen');
  });

  it('of the account tells a fallback administrator, a role, and an account that only lists', () => {
    const account = (value: unknown) => ({ account: { status: 200, value } });
    assert.equal(verdictOf('permissions', account({ error: 'notFound', item: 'gateway' })), 'holds');
    assert.equal(verdictOf('permissions', account({ data: { roles: ['helpdesk'] } })), 'cannot be seen');
    assert.equal(verdictOf('permissions', { everyType: { status: 403, value: {} } }), 'does not hold');
  });

  it('of the login and the version name second factors, bans and other releases', () => {
    const login = (status: number, value: unknown = {}) => ({ login: { status, value }, everyType: undefined });
    assert.match(rowOf('login', login(402)).says, /second factor/);
    assert.match(rowOf('login', login(403, { detail: 'Forbidden' })).says, /banned/);
    assert.equal(verdictOf('login', login(403, { detail: 'You do not have enough permissions' })), 'holds');
    assert.equal(verdictOf('version', login(404)), 'does not hold');
    assert.equal(verdictOf('version', settings({ 'server.http.url': 'x' })), 'does not hold');
    assert.equal(verdictOf('version', login(500)), 'cannot be seen');
  });
});
