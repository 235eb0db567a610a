// The methods of JMAP for mail (RFC 8621), as far as a client needs them to list, read, file and send messages.
import {
  type Arguments,
  found,
  type JmapMethod,
  type MethodContext,
  type MethodParts,
  objectIn,
  resolvedId,
} from './jmap-arguments.ts';
import { isMailboxId, type JmapMailMethods, methodsOfEmail } from './jmap-emails.ts';
import { type Email, MAILBOXES } from './mailboxes.ts';
import { withoutMilliseconds } from './message.ts';

const RIGHTS = [
  ...['mayReadItems', 'mayAddItems', 'mayRemoveItems', 'maySetSeen', 'maySetKeywords', 'mayCreateChild'],
  ...['mayRename', 'mayDelete', 'maySubmit'],
];

export function createMethods(parts: MethodParts): Readonly<Record<string, JmapMethod>> {
  const { store, mailboxes, pushes, now } = parts;

  const mailbox: JmapMailMethods = {
    'Mailbox/get'(given, { accountId }) {
      const emails = mailboxes.emailsOf(accountId);
      const all = MAILBOXES.map((one, sortOrder) => ({ ...one, sortOrder, ...countsIn(one.id, emails) }));
      return found(given, all, accountId, pushes.stateOf(accountId, 'Mailbox'));
    },
    'Mailbox/query'(given, { accountId }) {
      const { role } = objectIn(given.filter);
      const ids = MAILBOXES.filter((one) => role === undefined || one.role === role).map(({ id }) => id);
      const queryState = pushes.stateOf(accountId, 'Mailbox');
      return { accountId, queryState, canCalculateChanges: false, position: 0, ids };
    },
    'Identity/get'(given, { accountId, name }) {
      const emails = store.find(name)?.emails ?? [];
      const identities = emails.map((email, index) => ({
        ...{ id: `i${index}`, name, email, replyTo: null, bcc: null, textSignature: '', htmlSignature: '' },
        mayDelete: false,
      }));
      return found(given, identities, accountId, 's0');
    },
    async 'EmailSubmission/set'(given, context) {
      const { accountId, createdIds } = context;
      const created: Record<string, unknown> = {};
      const notCreated: Record<string, unknown> = {};
      for (const [key, sent] of Object.entries(objectIn(given.create))) {
        const { emailId, envelope } = objectIn(sent);
        const email = mailboxes.find(accountId, resolvedId(emailId, createdIds));
        const recipients = email ? recipientsOf(email, envelope) : [];
        if (!email) notCreated[key] = { type: 'invalidProperties', properties: ['emailId'] };
        else if (recipients.length === 0) notCreated[key] = { type: 'noRecipients' };
        else {
          await mailboxes.deliver(accountId, email, recipients);
          created[key] = { id: `q${email.id}`, sendAt: withoutMilliseconds(now()), undoStatus: 'final' };
          await fileSent(given, key, email, context);
        }
      }
      const [oldState, newState] = ['s0', 's0'];
      return { accountId, oldState, newState, created, notCreated };
    },
  };
  const email = methodsOfEmail(parts);

  /** What the client wants of the message that was sent: usually to be no draft, and to be among the sent ones. */
  async function fileSent(given: Arguments, key: string, { id }: Email, context: MethodContext): Promise<void> {
    const update = objectIn(given.onSuccessUpdateEmail)[`#${key}`];
    const destroy: readonly unknown[] = Array.isArray(given.onSuccessDestroyEmail) ? given.onSuccessDestroyEmail : [];
    if (update !== undefined) await email['Email/set']?.({ update: { [id]: update } }, context);
    if (destroy.includes(`#${key}`)) mailboxes.destroy(context.accountId, id);
  }

  return { 'Core/echo': (given) => given, ...mailbox, ...email };
}

function countsIn(mailboxId: string, all: readonly Email[]) {
  const emails = isMailboxId(mailboxId) ? all.filter((one) => one.mailboxIds[mailboxId]) : [];
  const unread = emails.filter(({ keywords }) => !keywords.$seen && !keywords.$draft).length;
  return {
    ...{ parentId: null, isSubscribed: true, myRights: Object.fromEntries(RIGHTS.map((right) => [right, true])) },
    ...{ totalEmails: emails.length, unreadEmails: unread, totalThreads: emails.length, unreadThreads: unread },
  };
}

function recipientsOf({ to, cc, bcc }: Email, envelope: unknown): readonly string[] {
  const { rcptTo } = objectIn(envelope);
  const named = Array.isArray(rcptTo) ? (rcptTo as readonly { readonly email?: string }[]) : [...to, ...cc, ...bcc];
  return named.flatMap(({ email }) => email ?? []);
}
