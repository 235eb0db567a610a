// Checks the DNS, the connection, the certificate and the health path of each target of each upstream.

import { lookup as lookupAll } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import type { Secrets } from '../../config/secrets.ts';
import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import type { Configuration } from '../../configuration.ts';
import { ask } from '../../http1/client/ask.ts';
import type { TlsSettings } from '../../http1/client/connect.ts';
import { answersFromContract, isGatewayItself } from '../../upstream/targets/addresses.ts';
import { createPools } from '../../upstream/targets/pools.ts';
import { type Finding, fail, type NamedCheck, ok, reasonOf, warn } from '../finding.ts';
import { checkValidity } from './certificates.ts';

/** Returns a check for each address. */
export function targetChecks(configuration: Configuration, secrets: Pick<Secrets, 'read'>, now: () => number) {
  return Object.entries(configuration.config.upstreams).flatMap(([upstream, entry]): NamedCheck[] => {
    const addresses = [...new Set([...entry.live, ...(entry.test ?? [])])];
    return addresses.map((address) => {
      const name = `upstream ${upstream} ${address}`;
      const tls = () => tlsOf(configuration, upstream, secrets);
      return [name, () => checkTarget(name, address, entry, tls(), now)];
    });
  });
}

/** Returns the TLS settings of an upstream. */
export function tlsOf(
  { upstreamTls }: Pick<Configuration, 'upstreamTls'>,
  upstream: string,
  secrets: Pick<Secrets, 'read'>,
): TlsSettings | undefined {
  const tls = upstreamTls.get(upstream);
  if (tls === undefined) return undefined;
  const { ca, certificate, key, keySecret, serverName } = tls;
  return { ca, certificate, key: keySecret === undefined ? key : secrets.read(keySecret), serverName };
}

async function checkTarget(
  name: string,
  address: string,
  entry: UpstreamEntry,
  tls: TlsSettings | undefined,
  now: () => number,
): Promise<Finding[]> {
  if (answersFromContract(address)) return [checkExamples(name, entry.live.includes(address))];
  if (isGatewayItself(address)) return [ok(name, 'The gateway itself answers.')];
  if (address.startsWith('sandbox:')) return [ok(name, 'The sandbox starts with the gateway.')];
  const { hostname, protocol, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    await lookup(host, { all: true });
  } catch (error) {
    return [fail(name, `${host} does not resolve (${reasonOf(error)}).`, 'Correct the name or the DNS entry.')];
  }
  const isTls = protocol === 'https:';
  const place = { host, port: Number(port || (isTls ? 443 : 80)) };
  let further: Finding[];
  try {
    further = isTls ? [await checkTls(name, place, tls, now())] : await checkConnection(place);
  } catch (error) {
    const remedy = isTls
      ? 'Start it, or correct the address; for a certificate of your own authority, set tls.ca.'
      : 'Start it, or correct the address or the network.';
    return [fail(name, `It takes no connection (${reasonOf(error)}).`, remedy)];
  }
  return [...further, await checkHealth(name, address, entry, tls)];
}

function checkExamples(name: string, isLive: boolean): Finding {
  const says = 'The contract answers; there is no service.';
  if (!isLive) return ok(name, says);
  return warn(name, `${says} Live keys get examples.`, 'Before production, set live to the address of the service.');
}

async function checkConnection(place: { host: string; port: number }): Promise<Finding[]> {
  await awaitOpen(connect(place), 'connect');
  return [];
}

async function checkTls(
  name: string,
  place: { host: string; port: number },
  tls: TlsSettings | undefined,
  nowMs: number,
): Promise<Finding> {
  const servername = tls?.serverName ?? (/^[\d.]+$|:/.test(place.host) ? undefined : place.host);
  const own = tls && { ca: tls.ca, cert: tls.certificate, key: tls.key };
  const socket = connectSecurely({ ...place, ...own, ...(servername !== undefined && { servername }) });
  let life = { validFromMs: 0, expiresAtMs: 0 };
  await awaitOpen(socket, 'secureConnect', () => {
    const { valid_from, valid_to } = (socket as TLSSocket).getPeerCertificate();
    life = { validFromMs: Date.parse(valid_from), expiresAtMs: Date.parse(valid_to) };
  });
  return checkValidity(`${name} certificate`, life, nowMs);
}

async function awaitOpen(socket: Socket, event: string, look: () => void = () => undefined): Promise<void> {
  try {
    await once(socket, event);
    look();
  } finally {
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

async function checkHealth(
  name: string,
  origin: string,
  { health, connections, connectTimeoutMs, connectionMaxAgeSeconds }: UpstreamEntry,
  tls: TlsSettings | undefined,
): Promise<Finding> {
  if (health === undefined) return ok(name, 'It takes connections.');
  const settings = { connections, connectTimeoutMs, connectionMaxAgeSeconds, tls };
  const client = createPools(lookupAll).single(origin, settings);
  try {
    const signal = AbortSignal.timeout(health.timeoutMs);
    const { status } = await ask(client, { method: 'GET', path: health.path, headers: [], body: null }, signal, false);
    const isGood = health.status === undefined ? status >= 200 && status < 300 : status === health.status;
    if (isGood) return ok(name, `It takes connections, and ${health.path} answers ${status}.`);
    return fail(name, `${health.path} answers ${status}.`, 'Find out why it is not healthy, or correct health.path.');
  } catch (error) {
    return fail(name, `${health.path} does not answer (${reasonOf(error)}).`, 'See why, or correct health.');
  } finally {
    client.destroy();
  }
}
