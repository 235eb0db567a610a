// Rehearses an order. Checks whether the ACME server can be reached, its clock, the account, and whether names and challenges lead to a
// gateway.

import { createHash, createPrivateKey, randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createAcmeClient } from '../../acme/acme-client.ts';
import { createHttpClient } from '../../acme/acme-http.ts';
import type { AcmeStore } from '../../acme/acme-store.ts';
import { change, recordIn, recordName } from '../../acme/records.ts';
import { createSeal } from '../../acme/seal.ts';
import { ACME_FILE } from '../../acme/sqlite-acme-store.ts';
import { ACME_TLS } from '../../acme/x509.ts';
import { type Acme, CERTIFICATE_KEY, directoryUrlOf } from '../../config/gateway/acme.ts';
import { readTrust } from '../../config/gateway/acme-needs.ts';
import type { Tls } from '../../config/gateway/tls.ts';
import type { Secrets } from '../../config/secrets.ts';
import type { Settings } from '../../config/settings.ts';
import { openAcmeStore } from '../../wiring/acme.ts';
import { CORRECT_THE_CAUSE, type Finding, fail, type NamedCheck, ok, reasonOf, warn } from '../finding.ts';

const PATIENCE_MS = 2500;
/** Dates have a resolution of a second, and an answer takes time. */
const SKEW = { warnMs: 60_000, failMs: 3_600_000 } as const;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

interface RehearsalOptions {
  readonly tls: Tls & { readonly acme: Acme };
  readonly settings: Settings;
  readonly secrets: Pick<Secrets, 'findValue'>;
  now(): number;
}

/** Returns the checks. Each has its own deadline. */
export function rehearsalChecks(options: RehearsalOptions): readonly NamedCheck[] {
  const { acme } = options.tls;
  return [
    ['acme directory', () => checkServer(options)],
    ['acme account', () => withStore(options, (store) => checkAccount(options, store))],
    ...acme.certificates.flat().map((name) => [`name ${name}`, () => checkName(name)] as const),
    ['acme challenge', () => withStore(options, (store) => checkChallenges(options, store))],
  ];
}

/** Opens the certificate store, but does not create one, because the store exists if a gateway has run here. */
async function withStore(
  { settings, now }: RehearsalOptions,
  check: (store: AcmeStore) => Promise<Finding | Finding[]>,
): Promise<Finding | Finding[]> {
  if (settings.redisUrl === undefined && !existsSync(join(settings.dataDirectory, ACME_FILE))) {
    const says = 'No gateway has run here with tls.acme yet.';
    return warn('acme challenge', says, 'Start the gateway, and run "gateway doctor" again.');
  }
  const store = await openAcmeStore(settings, now);
  try {
    return await check(store);
  } finally {
    store.close();
  }
}

async function checkServer({ tls: { acme }, settings, now }: RehearsalOptions): Promise<Finding[]> {
  const url = directoryUrlOf(acme);
  const http = createHttpClient(readTrust(acme.trust, settings.configDirectory), 'platform-gateway');
  try {
    const answer = await http.send('GET', url, undefined, AbortSignal.timeout(PATIENCE_MS));
    if (answer.status !== 200 || !answer.body.includes('newOrder'))
      return [fail('acme directory', `${url} answers ${answer.status}, and is no directory.`, 'Correct directory.')];
    return [ok('acme directory', `${url} answers.`), checkClock(Date.parse(answer.header('date') ?? ''), now())];
  } catch (error) {
    const remedy = 'Correct directory, or let this machine reach it; for an authority of your own, set trust.';
    return [fail('acme directory', `${url} does not answer (${reasonOf(error)}).`, remedy)];
  } finally {
    http.close();
  }
}

function checkClock(serverMs: number, nowMs: number): Finding {
  const check = 'clock of the ACME server';
  if (Number.isNaN(serverMs)) return ok(check, 'The server does not say it.');
  const skewMs = nowMs - serverMs;
  const says = `This machine is ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs < 0 ? 'behind' : 'ahead'}.`;
  if (Math.abs(skewMs) < SKEW.warnMs) return ok(check, says);
  const remedy = 'Let the clock be set by NTP: certificates are checked by it.';
  return Math.abs(skewMs) < SKEW.failMs ? warn(check, says, remedy) : fail(check, says, remedy);
}

async function checkAccount({ tls, settings, secrets, now }: RehearsalOptions, store: AcmeStore): Promise<Finding> {
  const check = 'acme account';
  const directoryUrl = directoryUrlOf(tls.acme);
  const record = recordIn(await store.read(), 'account', directoryUrl);
  if (record?.url === undefined) return ok(check, 'There is none yet: the first order makes it.');
  const secret = secrets.findValue(CERTIFICATE_KEY);
  if (secret === undefined)
    return fail(
      check,
      `There is no secrets entry ${CERTIFICATE_KEY}.`,
      'Restore the one that the store was made with.',
    );
  const http = createHttpClient(readTrust(tls.acme.trust, settings.configDirectory), 'platform-gateway');
  try {
    const key = createPrivateKey(createSeal(secret).open(record.key, recordName('account', directoryUrl)));
    const client = createAcmeClient({ directoryUrl, http, before: async () => undefined, now });
    const { value } = await client.post<{ status: string }>(record.url, { key, account: record.url });
    if (value.status === 'valid') return ok(check, `${record.url} is valid.`);
    return fail(check, `${record.url} is ${value.status}.`, 'Ask the operator of the ACME server.');
  } catch (error) {
    return fail(check, reasonOf(error), CORRECT_THE_CAUSE);
  } finally {
    http.close();
  }
}

async function checkName(name: string): Promise<Finding> {
  const check = `name ${name}`;
  try {
    const addresses = (await lookup(name, { all: true })).map(({ address }) => address);
    const own = new Set(Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []));
    if (addresses.every((address) => own.has(address))) return ok(check, `${addresses.join(', ')}, this machine.`);
    const says = `It leads to ${addresses.join(', ')}, which is not this machine alone.`;
    return warn(check, says, 'This is right behind a balancer; otherwise correct the DNS entry.');
  } catch (error) {
    return fail(check, `It does not resolve (${reasonOf(error)}).`, 'Make its DNS entry, or remove the name.');
  }
}

/** Puts answers to challenges into the store, and requests them as the ACME server does. Removes the answers afterwards. */
async function checkChallenges({ tls, settings }: RehearsalOptions, store: AcmeStore): Promise<Finding[]> {
  const { acme, plain } = tls;
  const answers = acme.certificates.flat().map((name) => {
    const token = randomBytes(16).toString('base64url');
    return { name, token, keyAuthorization: `${token}.rehearsal` };
  });
  // An ACME server on this machine is a test server, which connects to the ports of the gateway.
  const isLocal = LOOPBACK.test(new URL(directoryUrlOf(acme)).hostname);
  const isHttp = acme.challenge === 'http-01';
  const port = isHttp ? (isLocal ? (plain?.port ?? 80) : 80) : isLocal ? settings.port : 443;
  const of = randomBytes(8).toString('hex');
  await store.put(change('rehearsal', of, answers));
  try {
    const ask = isHttp ? answersHttp : answersTls;
    return await Promise.all(
      answers.map(async ({ name, token, keyAuthorization }): Promise<Finding> => {
        const check = `challenge ${name}`;
        try {
          if (await ask(name, port, token, keyAuthorization)) return ok(check, `Port ${port} answers as it should.`);
          const says = `Port ${port} of ${name} answers, but not this gateway.`;
          return fail(check, says, 'Let the name and the port lead to the gateway, without TLS in between.');
        } catch (error) {
          const says = `Port ${port} of ${name} does not answer (${reasonOf(error)}).`;
          return fail(check, says, `Start the gateway, and open port ${port} for the world.`);
        }
      }),
    );
  } finally {
    await store.put(change('rehearsal', of, undefined));
  }
}

async function answersTls(name: string, port: number, _token: string, keyAuthorization: string): Promise<boolean> {
  const socket = connect({
    host: name,
    port,
    servername: name,
    ALPNProtocols: [ACME_TLS],
    // The certificate of a validation is self-signed. Its content is checked instead of its signature.
    rejectUnauthorized: false,
    timeout: PATIENCE_MS,
  });
  socket.on('timeout', () => socket.destroy(new Error('timeout')));
  try {
    await once(socket, 'secureConnect');
    const digest = createHash('sha256').update(keyAuthorization).digest();
    return socket.getPeerCertificate().raw.includes(digest);
  } finally {
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

async function answersHttp(name: string, port: number, token: string, keyAuthorization: string): Promise<boolean> {
  const path = `/.well-known/acme-challenge/${token}`;
  const request = get({ host: name, port, path, agent: false, timeout: PATIENCE_MS });
  request.on('timeout', () => request.destroy(new Error('timeout')));
  const [answer] = await once(request, 'response');
  let text = '';
  for await (const part of answer.setEncoding('utf8')) text += part;
  return text === keyAuthorization;
}
