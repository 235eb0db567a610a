// Manages the account at the ACME server (RFC 8555 section 7.3). The first order registers the account; later orders find it by its key.
// Throws AcmeFailure.

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { publicJwk, type Signer, toJws } from './acme-client.ts';
import { AcmeFailure } from './failure.ts';
import { type AccountRecord, change, recordIn, recordName } from './records.ts';
import type { Work } from './work.ts';
import { newKeyPem } from './x509.ts';

export interface AccountSigner extends Signer {
  readonly account: string;
}

/** Finds or registers the account. Finishes a key change that was interrupted, and updates the contacts. */
export async function openAccount(work: Work): Promise<AccountSigner> {
  const { settings, client } = work;
  const stored = new StoredAccount(work);
  let record = stored.read();
  if (record === undefined) {
    // The record is stored before the request, so that if this instance crashes, the next instance finds the same account.
    record = { key: stored.newKey(), contacts: settings.contacts };
    await stored.save(record);
  }
  if (record.nextKey !== undefined) record = await finishKeyChange(work, stored, record);
  const key = stored.openKey(record.key);
  if (record.url === undefined) {
    record = { ...record, url: await register(work, key), contacts: settings.contacts };
    await stored.save(record);
  }
  const signer = { key, account: record.url as string };
  if (record.contacts.join() !== settings.contacts.join()) {
    await client.post(signer.account, signer, { contact: contactsOf(work) });
    await stored.save({ ...record, contacts: settings.contacts });
  }
  return signer;
}

/** Forgets the URL of an account that the server no longer knows, so that the next attempt registers the key again. */
export async function forgetAccount(work: Work): Promise<void> {
  const stored = new StoredAccount(work);
  const record = stored.read();
  if (record !== undefined) await stored.save({ ...record, url: undefined });
}

/** Replaces the account key (section 7.3.5). */
export async function changeAccountKey(work: Work): Promise<void> {
  const { account } = await openAccount(work);
  const stored = new StoredAccount(work);
  const record = stored.read();
  if (record === undefined) throw new AcmeFailure('refused', `There is no record of the account ${account}.`);
  const next = { ...record, nextKey: stored.newKey() };
  await stored.save(next);
  await finishKeyChange(work, stored, next);
}

/** Finishes a key change. If the server has changed the key already, it finds the account by the next key. */
async function finishKeyChange({ client }: Work, stored: StoredAccount, record: AccountRecord): Promise<AccountRecord> {
  const { url, nextKey } = record;
  if (url === undefined || nextKey === undefined) return record;
  const { newAccount, keyChange } = await client.directory();
  const next = stored.openKey(nextKey);
  const known = await client.post(newAccount, { key: next }, { onlyReturnExisting: true }).catch((error: unknown) => {
    if (error instanceof AcmeFailure && error.type === 'accountDoesNotExist') return undefined;
    throw error;
  });
  if (known === undefined) {
    const former = stored.openKey(record.key);
    const header = { alg: 'ES256', url: keyChange, jwk: publicJwk(next) };
    const inner = toJws(header, next, { account: url, oldKey: publicJwk(former) });
    await client.post(keyChange, { key: former, account: url }, inner);
  }
  const changed = { ...record, key: nextKey, nextKey: undefined };
  await stored.save(changed);
  return changed;
}

async function register(work: Work, key: KeyObject): Promise<string> {
  const { client, settings } = work;
  const { newAccount, meta } = await client.directory();
  if (meta?.externalAccountRequired === true && settings.externalAccount === undefined)
    throw new AcmeFailure('refused', 'The ACME server requires an external account: set tls.acme.externalAccount.');
  const { location } = await client.post(
    newAccount,
    { key },
    {
      termsOfServiceAgreed: true,
      ...(settings.contacts.length > 0 && { contact: contactsOf(work) }),
      ...(settings.externalAccount && { externalAccountBinding: bindingOf(work, key, newAccount) }),
    },
  );
  if (location === undefined) throw new AcmeFailure('server', 'The ACME server registered an account without a URL.');
  return location;
}

/** Returns the public key of the account, signed with the secret of the external account (section 7.3.4). */
function bindingOf({ settings }: Work, key: KeyObject, url: string): object {
  const { keyId = '', secret = '' } = settings.externalAccount ?? {};
  return toJws({ alg: 'HS256', kid: keyId, url }, Buffer.from(secret, 'base64url'), publicJwk(key));
}

function contactsOf({ settings }: Work): string[] {
  return settings.contacts.map((address) => `mailto:${address}`);
}

/** The record of the account at the present server, and its sealed keys. */
class StoredAccount {
  readonly #work: Work;

  constructor(work: Work) {
    this.#work = work;
  }

  read(): AccountRecord | undefined {
    return recordIn(this.#work.journal.records(), 'account', this.#work.settings.directory);
  }

  async save(record: AccountRecord): Promise<void> {
    await this.#work.journal.write(change('account', this.#work.settings.directory, record));
  }

  /** Makes a key, and seals it. */
  newKey(): string {
    return this.#work.seal.seal(newKeyPem(), recordName('account', this.#work.settings.directory));
  }

  openKey(sealed: string): KeyObject {
    return createPrivateKey(this.#work.seal.open(sealed, recordName('account', this.#work.settings.directory)));
  }
}
