// Reads facts about a Stalwart mail server for its table, with the gateway's account and without a login. Sends only requests that read,
// and stops after a refused login, because each refused login counts toward a ban.

import { once } from 'node:events';
import { connect } from 'node:net';
import type { ContractOperation } from '../../../contract/operations/operations.ts';
import { isRecord } from '../../../shared/is-record.ts';
import { type Backend, jsonIn } from '../backend.ts';

/** An answer, or the reason for none. */
export interface Reply {
  /** 0 without an answer. */
  readonly status: number;
  /** The JSON value of the body; undefined if it is not JSON. */
  readonly value: unknown;
  readonly problem?: string | undefined;
}

export interface StalwartFacts {
  /** The address of this machine on a connection to the mail server; undefined if it accepts none. */
  readonly localAddress: string | undefined;
  /** A list of accounts. The rest of the administration is not asked if the login is refused. */
  readonly login: Reply;
  /** A list of principals of all types. */
  readonly everyType?: Reply | undefined;
  /** The gateway's own account. */
  readonly account?: Reply | undefined;
  readonly settings?: Reply | undefined;
  /** The errors that a reload of the configuration would find. */
  readonly reload?: Reply | undefined;
  /** Without a login. */
  readonly session: Reply;
  readonly keySet: Reply;
}

export interface FactsOptions {
  readonly backend: Backend;
  /** `http://host:port` */
  readonly origin: string;
  /** Any operation of the upstream. Requests are made as for this operation. */
  readonly entry: ContractOperation;
  /** The user name of the gateway. */
  readonly user: string;
}

const SETTINGS = [
  'http.url',
  'http.use-x-forwarded',
  'http.rate-limit.account',
  'server.auto-ban.auth.rate',
  'jmap.protocol.request.max-concurrent',
];

/** Returns a function that reads a path of the server. It never rejects because of the mail server. */
function readerOf({ backend, entry }: Pick<FactsOptions, 'backend' | 'entry'>) {
  const headers = new Map([
    ['accept', 'application/json'],
    ['host', 'gateway.invalid'],
  ]);
  return async (path: string, anonymous?: true): Promise<Reply> => {
    const asked = { entry, pathValues: [], search: '', headers, method: 'GET', path, ...(anonymous && { anonymous }) };
    const { status, problem, body } = await backend.send(asked);
    return { status: problem === undefined ? status : 0, value: jsonIn(body), problem };
  };
}

/** Reads the errors that a reload of the configuration would find, without a reload. */
export function reloadReply(options: Pick<FactsOptions, 'backend' | 'entry'>): Promise<Reply> {
  return readerOf(options)('/api/reload?dry-run=true');
}

/** Reads all facts. Never rejects because of the mail server. */
export async function stalwartFacts({ backend, origin, entry, user }: FactsOptions): Promise<StalwartFacts> {
  const get = readerOf({ backend, entry });
  const localAddress = await localAddressToward(origin);
  const login = await get('/api/principal?types=individual&fields=name&limit=1');
  const session = await get('/jmap/session', true);
  const keySet = await get('/auth/jwks.json', true);
  const found = { localAddress, login, session, keySet };
  // A 403 means that a permission is missing, but that the login was right.
  if (login.status !== 200 && login.status !== 403) return found;
  const everyType = await get('/api/principal?fields=name&limit=1');
  const account = await get(`/api/principal/${encodeURIComponent(user.toLowerCase())}`);
  const keys = [...SETTINGS, ...(localAddress === undefined ? [] : [`server.blocked-ip.${localAddress}`])];
  const named = `keys=${keys.map(encodeURIComponent).join(',')}&prefixes=server.allowed-ip,server.http`;
  const settings = await get(`/api/settings/keys?${named}`);
  const reload = await reloadReply({ backend, entry });
  return { ...found, everyType, account, settings, reload };
}

/** Returns the number of requests that were needed. */
export function requestsOf({ everyType }: StalwartFacts): number {
  return everyType === undefined ? 3 : 7;
}

async function localAddressToward(origin: string): Promise<string | undefined> {
  const { hostname, protocol, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port || (protocol === 'https:' ? 443 : 80)), timeout: 3000 });
  socket.once('timeout', () => socket.destroy(new Error('no answer')));
  try {
    await once(socket, 'connect');
    return socket.localAddress?.replace(/^::ffff:/, '');
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Returns the names of the settings that the server has shown. */
export function settingNames(settings: Reply | undefined): string[] {
  const found = at(settings?.value, 'data');
  return isRecord(found) ? Object.keys(found) : [];
}

export function setting(settings: Reply | undefined, name: string): unknown {
  return at(settings?.value, 'data', name);
}

/** Returns the value at a path of members; undefined if there is none. */
export function at(value: unknown, ...names: readonly string[]): unknown {
  let found = value;
  for (const name of names) found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}
