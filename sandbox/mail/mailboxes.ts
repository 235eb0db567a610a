// The mail of accounts, in memory: their mailboxes and messages, which are blobs as well, and the delivery between accounts. Changes are
// pushed.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import type { Blobs } from './blobs.ts';
import { type Message, readMessage, withoutBcc, withoutMilliseconds } from './message.ts';
import type { Pushes } from './pushes.ts';
import { accountIdOf, UPLOAD_BYTES_MAX } from './session.ts';
import type { MailStore } from './store.ts';

export interface Email extends Message {
  readonly id: string;
  readonly blobId: string;
  readonly size: number;
  readonly receivedAt: string;
  readonly mailboxIds: Readonly<Record<string, true>>;
  readonly keywords: Readonly<Record<string, true>>;
}

export interface Placement {
  readonly mailboxIds: Readonly<Record<string, true>>;
  readonly keywords: Readonly<Record<string, true>>;
}

export interface Mailboxes {
  /** Oldest first. */
  emailsOf(accountId: string): readonly Email[];
  find(accountId: string, id: string): Email | undefined;
  /** Keeps a message; undefined: there is no such blob. */
  fromBlob(accountId: string, blobId: string, placement: Placement): Promise<Email | undefined>;
  add(accountId: string, raw: string, placement: Placement): Promise<Email>;
  replace(accountId: string, email: Email): void;
  destroy(accountId: string, id: string): boolean;
  /** Delivers a message to the inboxes of the local recipients, and to the members of groups and lists. */
  deliver(accountId: string, email: Email, recipients: readonly string[]): Promise<void>;
}

/** Every account has these. */
export const MAILBOXES = [
  { id: 'a', name: 'Inbox', role: 'inbox' },
  { id: 'b', name: 'Drafts', role: 'drafts' },
  { id: 'c', name: 'Sent Items', role: 'sent' },
  { id: 'd', name: 'Deleted Items', role: 'trash' },
  { id: 'e', name: 'Junk Mail', role: 'junk' },
] as const;

const INBOX: Placement = { mailboxIds: { a: true }, keywords: {} };
const EMAILS_MAX = 1000;

interface Parts {
  readonly store: MailStore;
  readonly blobs: Blobs;
  readonly pushes: Pushes;
  readonly now: () => number;
}

export function createMailboxes({ store, blobs, pushes, now }: Parts): Mailboxes {
  const accounts = new Map<string, Map<string, Email>>();

  function of(accountId: string): Map<string, Email> {
    const emails = accounts.get(accountId) ?? new Map<string, Email>();
    accounts.set(accountId, emails);
    return emails;
  }

  function changed(accountId: string): void {
    for (const type of ['Email', 'Mailbox']) pushes.push(accountId, type);
  }

  function keep(accountId: string, raw: string, blob: { id: string; size: number }, placement: Placement): Email {
    const emails = of(accountId);
    const [blobId, receivedAt] = [blob.id, withoutMilliseconds(now())];
    const id = `m${randomUUID().slice(0, 13)}`;
    const email: Email = { ...readMessage(raw), ...placement, id, blobId, size: blob.size, receivedAt };
    if (emails.size >= EMAILS_MAX) emails.delete(emails.keys().next().value as string);
    emails.set(id, email);
    changed(accountId);
    return email;
  }

  async function add(accountId: string, raw: string, placement: Placement): Promise<Email> {
    const blob = await blobs.keep(accountId, Readable.from([Buffer.from(raw)]), UPLOAD_BYTES_MAX);
    return keep(accountId, raw, blob, placement);
  }

  async function rawOf(accountId: string, blobId: string): Promise<string | undefined> {
    const blob = blobs.open(accountId, blobId);
    return blob && (await textOf(blob.content));
  }

  /** The numbers of the accounts behind an address: its owner, that of the catch-all address of its domain, or the members of a list. */
  function accountsAt(address: string): readonly number[] {
    const known = address.toLowerCase();
    const id = store.ownerOf(known) ?? store.ownerOf(known.slice(known.indexOf('@')));
    if (id === undefined) return [];
    const members = store.children(id).flatMap((name) => store.find(name)?.id ?? []);
    return members.length === 0 ? [id] : members;
  }

  return {
    emailsOf: (accountId) => [...of(accountId).values()],
    find: (accountId, id) => of(accountId).get(id),
    async fromBlob(accountId, blobId, placement) {
      const raw = await rawOf(accountId, blobId);
      return raw === undefined
        ? undefined
        : keep(accountId, raw, { id: blobId, size: Buffer.byteLength(raw) }, placement);
    },
    add,
    replace(accountId, email) {
      of(accountId).set(email.id, email);
      changed(accountId);
    },
    destroy(accountId, id) {
      const existed = of(accountId).delete(id);
      if (existed) changed(accountId);
      return existed;
    },
    async deliver(accountId, email, recipients) {
      const raw = withoutBcc((await rawOf(accountId, email.blobId)) ?? '');
      const receivers = new Set(recipients.flatMap(accountsAt));
      for (const id of receivers) await add(accountIdOf({ id }), raw, INBOX);
    },
  };
}
