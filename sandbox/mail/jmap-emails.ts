// The methods of JMAP for messages: `Email/query`, `Email/get`, `Email/set` and `Email/import` (RFC 8621, section 4).
import {
  type Arguments,
  found,
  type JmapMethod,
  MethodError,
  type MethodParts,
  objectIn,
  resolvedId,
} from './jmap-arguments.ts';
import { type Email, MAILBOXES, type Placement } from './mailboxes.ts';
import { type MailboxAddress, writeMessage } from './message.ts';

export type JmapMailMethods = Readonly<Record<string, JmapMethod>>;

const PREVIEW_CHARACTERS = 256;
const ADDRESSES = ['from', 'to', 'cc', 'bcc'] as const;

/** A set error, RFC 8620 section 5.3. */
interface SetError {
  readonly type: string;
  readonly properties?: readonly string[];
}

interface Outcome {
  readonly done: Record<string, unknown>;
  readonly failed: Record<string, SetError>;
}

const outcome = (): Outcome => ({ done: {}, failed: {} });
const invalid = (...properties: readonly string[]): SetError => ({ type: 'invalidProperties', properties });

export const isMailboxId = (id: string): boolean => MAILBOXES.some((one) => one.id === id);

export function methodsOfEmail({ mailboxes, pushes, now }: MethodParts): JmapMailMethods {
  const state = (accountId: string) => pushes.stateOf(accountId, 'Email');

  async function create(given: Arguments, accountId: string, createdIds: Map<string, string>): Promise<Outcome> {
    const { done, failed } = outcome();
    for (const [key, sent] of Object.entries(objectIn(given.create))) {
      const members = objectIn(sent);
      const placement = placementIn(members);
      if (!placement) {
        failed[key] = invalid('mailboxIds');
        continue;
      }
      const email = await mailboxes.add(accountId, writeMessage(contentOf(members), now()), placement);
      createdIds.set(key, email.id);
      done[key] = summaryOf(email);
    }
    return { done, failed };
  }

  function update(given: Arguments, accountId: string, createdIds: ReadonlyMap<string, string>): Outcome {
    const { done, failed } = outcome();
    for (const [key, patch] of Object.entries(objectIn(given.update))) {
      const email = mailboxes.find(accountId, resolvedId(key, createdIds));
      const next = email && patched(email, objectIn(patch));
      if (!email) failed[key] = { type: 'notFound' };
      else if (!next) failed[key] = invalid('mailboxIds');
      else {
        mailboxes.replace(accountId, next);
        done[key] = null;
      }
    }
    return { done, failed };
  }

  return {
    'Email/query'(given, { accountId }) {
      const matching = mailboxes.emailsOf(accountId).filter((email) => matches(email, objectIn(given.filter)));
      const [first] = Array.isArray(given.sort) ? (given.sort as readonly Arguments[]) : [];
      const ids = (first?.isAscending === true ? matching : matching.toReversed()).map(({ id }) => id);
      const position = typeof given.position === 'number' ? Math.max(given.position, 0) : 0;
      const end = typeof given.limit === 'number' ? position + given.limit : undefined;
      const total = given.calculateTotal === true ? { total: ids.length } : {};
      const queryState = state(accountId);
      return { accountId, queryState, canCalculateChanges: false, position, ids: ids.slice(position, end), ...total };
    },
    'Email/get'(given, { accountId }) {
      const { fetchTextBodyValues, fetchAllBodyValues } = given;
      const hasValues = fetchTextBodyValues === true || fetchAllBodyValues === true;
      const all = mailboxes.emailsOf(accountId).map((email) => shownEmail(email, hasValues));
      return found(given, all, accountId, state(accountId));
    },
    async 'Email/set'(given, { accountId, createdIds }) {
      const oldState = state(accountId);
      const created = await create(given, accountId, createdIds);
      const updated = update(given, accountId, createdIds);
      const ids: readonly unknown[] = Array.isArray(given.destroy) ? given.destroy : [];
      const destroyed = ids.map(String).filter((id) => mailboxes.destroy(accountId, resolvedId(id, createdIds)));
      const missing = ids.map(String).filter((id) => !destroyed.includes(id));
      return {
        ...{ accountId, oldState, newState: state(accountId), created: created.done, notCreated: created.failed },
        ...{ updated: updated.done, notUpdated: updated.failed, destroyed },
        notDestroyed: Object.fromEntries(missing.map((id) => [id, { type: 'notFound' }])),
      };
    },
    async 'Email/import'(given, { accountId, createdIds }) {
      const oldState = state(accountId);
      const { done: created, failed: notCreated } = outcome();
      for (const [key, sent] of Object.entries(objectIn(given.emails))) {
        const members = objectIn(sent);
        const placement = placementIn(members);
        const blobId = typeof members.blobId === 'string' ? members.blobId : '';
        const email = placement && (await mailboxes.fromBlob(accountId, blobId, placement));
        if (email) {
          createdIds.set(key, email.id);
          created[key] = summaryOf(email);
        } else notCreated[key] = placement ? { type: 'blobNotFound' } : invalid('mailboxIds');
      }
      return { accountId, oldState, newState: state(accountId), created, notCreated };
    },
  };
}

const summaryOf = ({ id, blobId, size }: Email) => ({ id, blobId, threadId: id, size });

function shownEmail({ text, ...email }: Email, hasValues: boolean) {
  const part = {
    partId: '1',
    blobId: email.blobId,
    size: Buffer.byteLength(text),
    type: 'text/plain',
    charset: 'utf-8',
  };
  const values = { 1: { value: text, isEncodingProblem: false, isTruncated: false } };
  return {
    ...email,
    ...{ threadId: email.id, hasAttachment: false, preview: text.slice(0, PREVIEW_CHARACTERS) },
    ...{ textBody: [part], htmlBody: [part], attachments: [], bodyValues: hasValues ? values : {} },
  };
}

function matches(email: Email, { inMailbox, hasKeyword, notKeyword, text, subject, from, to }: Arguments): boolean {
  const holds = (within: string, sought: unknown) =>
    typeof sought !== 'string' || within.toLowerCase().includes(sought.toLowerCase());
  const written = (addresses: readonly MailboxAddress[]) =>
    addresses.map((one) => `${one.name} ${one.email}`).join(' ');
  const whole = [email.subject, email.text, ...ADDRESSES.map((field) => written(email[field]))].join(' ');
  return (
    (typeof inMailbox !== 'string' || email.mailboxIds[inMailbox] === true) &&
    (typeof hasKeyword !== 'string' || email.keywords[hasKeyword] === true) &&
    (typeof notKeyword !== 'string' || email.keywords[notKeyword] !== true) &&
    holds(whole, text) &&
    holds(email.subject ?? '', subject) &&
    holds(written(email.from), from) &&
    holds(written(email.to), to)
  );
}

/** Undefined without a mailbox that exists. */
function placementIn({ mailboxIds, keywords }: Arguments): Placement | undefined {
  const named = truths(mailboxIds);
  const ids = Object.keys(named);
  return ids.length > 0 && ids.every(isMailboxId) ? { mailboxIds: named, keywords: truths(keywords) } : undefined;
}

function truths(value: unknown): Readonly<Record<string, true>> {
  return Object.fromEntries(Object.keys(objectIn(value)).map((name) => [name, true]));
}

/** Members as a whole, or single ones by their paths (RFC 8620, section 5.3); undefined if it would be in no mailbox. */
function patched(email: Email, patch: Arguments): Email | undefined {
  const next: Record<'mailboxIds' | 'keywords', Record<string, true>> = {
    mailboxIds: { ...email.mailboxIds },
    keywords: { ...email.keywords },
  };
  for (const [path, value] of Object.entries(patch)) {
    const [member = '', name] = path.split('/');
    if (member !== 'mailboxIds' && member !== 'keywords') throw new MethodError('invalidArguments');
    if (name === undefined) next[member] = { ...truths(value) };
    else if (value === null || value === false) delete next[member][name];
    else next[member][name] = true;
  }
  return placementIn(next) && { ...email, ...next };
}

function contentOf(members: Arguments) {
  const [part] = Array.isArray(members.textBody) ? (members.textBody as readonly Arguments[]) : [];
  const { value } = objectIn(objectIn(members.bodyValues)[String(part?.partId)]);
  const [from, to, cc, bcc] = ADDRESSES.map((field) => addressesOf(members[field]));
  const subject = typeof members.subject === 'string' ? members.subject : null;
  return { from: from ?? [], to: to ?? [], cc: cc ?? [], bcc: bcc ?? [], subject, text: String(value ?? '') };
}

function addressesOf(value: unknown): readonly MailboxAddress[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Arguments[]).flatMap(({ name, email }) =>
    typeof email === 'string' ? { name: typeof name === 'string' ? name : null, email } : [],
  );
}
