// Orders one certificate (RFC 8555 section 7.4). Stores the result of each step before it requests the next step, so that another instance
// can continue the order. Throws AcmeFailure. If the kind is `refused`, the caller removes the order.

import { createPrivateKey } from 'node:crypto';
import type { AccountSigner } from './account.ts';
import { keyAuthorizationOf, type Problem, sentenceOf } from './acme-client.ts';
import { AcmeFailure } from './failure.ts';
import { type ChallengeRecord, change, type OrderRecord, recordIdOf, recordIn, sealedAs } from './records.ts';
import type { Work } from './work.ts';
import { createRequest, newKeyPem } from './x509.ts';

/** Maximum duration of an attempt. The next attempt continues the order. */
const ATTEMPT_MAX_MS = 300_000;
const POLL = { firstMs: 500, longestMs: 10_000, retryAfterMaxMs: 60_000 } as const;

interface Order {
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate?: string;
  readonly error?: Problem;
}

interface Authorization {
  readonly status: string;
  readonly identifier: { readonly value: string };
  readonly challenges: readonly {
    readonly type: string;
    readonly url: string;
    readonly status: string;
    readonly token: string;
    readonly error?: Problem;
  }[];
}

/** A certificate in PEM, and its sealed key. */
interface IssuedPair {
  readonly certificate: string;
  readonly key: string;
}

/** Orders a certificate, or continues a stored order. @param replaces identifier of the certificate that is renewed */
export async function orderCertificate(
  work: Work,
  signer: AccountSigner,
  names: readonly string[],
  replaces: string | undefined,
): Promise<IssuedPair> {
  const id = recordIdOf(names);
  const stored = recordIn(work.journal.records(), 'order', id);
  const record = stored?.account === signer.account ? stored : await begin(work, signer, names, replaces);
  const { performance } = work.machine;
  const endsAt = performance.now() + ATTEMPT_MAX_MS;
  const wait = createWait(work);
  while (performance.now() < endsAt) {
    const { value: order, retryAfterMs } = await orderAt(work, signer, record.url);
    if (order.status === 'valid') return await download(work, signer, record, order);
    if (order.status === 'invalid')
      throw new AcmeFailure('refused', `The order is invalid: ${sentenceOf(order.error ?? {})}`);
    if (order.status === 'pending') await authorize(work, signer, id, order, endsAt);
    else if (order.status === 'ready') await finalize(work, signer, names, record, order);
    else await wait(retryAfterMs);
  }
  throw new AcmeFailure(
    'server',
    'The ACME server has not issued the certificate in time. The next attempt continues the order.',
  );
}

/** Reads the order. If the server no longer knows the order, throws a refusal, after which the caller removes the order. */
async function orderAt(work: Work, signer: AccountSigner, url: string) {
  try {
    return await work.client.post<Order>(url, signer);
  } catch (error) {
    if (error instanceof AcmeFailure && error.type === 'unauthorized')
      throw new AcmeFailure('refused', `The order is lost: ${error.message}`, { cause: error });
    throw error;
  }
}

async function begin(
  work: Work,
  signer: AccountSigner,
  names: readonly string[],
  replaces: string | undefined,
): Promise<OrderRecord> {
  const id = recordIdOf(names);
  const identifiers = names.map((value) => ({ type: 'dns', value }));
  const { newOrder, renewalInfo } = await work.client.directory();
  const ask = (payload: object) => work.client.post<Order>(newOrder, signer, payload);
  const isRenewal = replaces !== undefined && renewalInfo !== undefined;
  const { location } = await ask(isRenewal ? { identifiers, replaces } : { identifiers }).catch((error: unknown) => {
    // The server may not know the former certificate, or may treat it as replaced already. The certificate is then ordered without naming
    // the former one.
    const isAboutFormer = isRenewal && error instanceof AcmeFailure && error.kind === 'refused';
    if (!isAboutFormer) throw error;
    return ask({ identifiers });
  });
  if (location === undefined) throw new AcmeFailure('server', 'The ACME server created an order without a URL.');
  const key = work.seal.seal(newKeyPem(), sealedAs(id));
  const record = { url: location, account: signer.account, key, atMs: work.now() };
  await work.journal.write(change('order', id, record));
  return record;
}

/** Publishes the answers to all open challenges, asks the server to validate them, and waits until it has done so. */
async function authorize(work: Work, signer: AccountSigner, id: string, order: Order, endsAt: number): Promise<void> {
  const open: { readonly url: string; readonly challenge: Authorization['challenges'][number] }[] = [];
  const answers: ChallengeRecord[] = [];
  for (const url of order.authorizations) {
    const { value } = await work.client.post<Authorization>(url, signer);
    if (value.status === 'valid') continue;
    const name = value.identifier.value;
    const challenge = value.challenges.find(({ type }) => type === work.settings.challenge);
    if (value.status !== 'pending') throw refusalOf(value, work.settings.challenge);
    if (challenge === undefined)
      throw new AcmeFailure('refused', `The ACME server offers no ${work.settings.challenge} for ${name}.`);
    open.push({ url, challenge });
    const { token } = challenge;
    answers.push({ name, token, keyAuthorization: keyAuthorizationOf(token, signer.key) });
  }
  await work.journal.write(change('challenges', id, answers));
  for (const { challenge } of open) {
    if (challenge.status === 'pending') await work.client.post(challenge.url, signer, {});
  }
  for (const { url } of open) await untilValid(work, signer, url, endsAt);
}

async function untilValid(work: Work, signer: AccountSigner, url: string, endsAt: number): Promise<void> {
  const wait = createWait(work);
  while (work.machine.performance.now() < endsAt) {
    const { value, retryAfterMs } = await work.client.post<Authorization>(url, signer);
    if (value.status === 'valid') return;
    if (value.status !== 'pending') throw refusalOf(value, work.settings.challenge);
    await wait(retryAfterMs);
  }
}

function refusalOf({ identifier, status, challenges }: Authorization, wanted: string): AcmeFailure {
  const failed = challenges.find(({ error }) => error !== undefined);
  const reason = sentenceOf(failed?.error ?? { detail: `it is ${status}` });
  return new AcmeFailure(
    'refused',
    `The challenge ${failed?.type ?? wanted} for ${identifier.value} failed: ${reason}`,
  );
}

async function finalize(
  work: Work,
  signer: AccountSigner,
  names: readonly string[],
  record: OrderRecord,
  order: Order,
): Promise<void> {
  const key = createPrivateKey(work.seal.open(record.key, sealedAs(recordIdOf(names))));
  const csr = createRequest(names, key).toString('base64url');
  try {
    await work.client.post(order.finalize, signer, { csr });
  } catch (error) {
    // An earlier attempt has finalized the order.
    if (!(error instanceof AcmeFailure && error.type === 'orderNotReady')) throw error;
    await work.pause(POLL.firstMs);
  }
}

async function download(work: Work, signer: AccountSigner, { key }: OrderRecord, order: Order): Promise<IssuedPair> {
  if (order.certificate === undefined)
    throw new AcmeFailure('server', 'The ACME server issued a certificate without a URL.');
  const { text } = await work.client.post(order.certificate, signer);
  return { certificate: text, key };
}

/** Creates a function that waits before the next poll, for Retry-After within bounds, otherwise twice as long each time. */
function createWait({ pause }: Work): (retryAfterMs: number | undefined) => Promise<void> {
  let ms: number = POLL.firstMs;
  return async function wait(retryAfterMs) {
    await pause(retryAfterMs === undefined ? ms : Math.min(Math.max(retryAfterMs, 200), POLL.retryAfterMaxMs));
    ms = Math.min(ms * 2, POLL.longestMs);
  };
}
