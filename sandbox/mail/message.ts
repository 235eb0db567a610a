// Pure: reads the header and the text of a message (RFC 5322), and writes one from the members of a JMAP Email. No MIME structure: the body
// is one text.
import { randomUUID } from 'node:crypto';

export interface MailboxAddress {
  readonly name: string | null;
  readonly email: string;
}

export interface Message {
  readonly from: readonly MailboxAddress[];
  readonly to: readonly MailboxAddress[];
  readonly cc: readonly MailboxAddress[];
  readonly bcc: readonly MailboxAddress[];
  readonly subject: string | null;
  /** As the header has it, in the form of RFC 3339 where it can be read. */
  readonly sentAt: string | null;
  readonly messageId: readonly string[] | null;
  readonly text: string;
}

const ADDRESS = /(?:"([^"]*)"|([^",<]*?))\s*<([^<>@\s]+@[^<>@\s]+)>|([^\s,<>"]+@[^\s,<>"]+)/g;
const TEXT_CHARACTERS_MAX = 100_000;

export function readMessage(raw: string): Message {
  const blank = /\r?\n\r?\n/.exec(raw);
  const head = blank ? raw.slice(0, blank.index) : raw;
  const fields = new Map<string, string>();
  for (const line of head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const [, name, value = ''] = /^([!-9;-~]+):\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields.set(name.toLowerCase(), decodedWords(value));
  }
  const dateMs = Date.parse(fields.get('date') ?? '');
  const id = /<([^>]+)>/.exec(fields.get('message-id') ?? '')?.[1];
  return {
    from: addressesIn(fields.get('from')),
    to: addressesIn(fields.get('to')),
    cc: addressesIn(fields.get('cc')),
    bcc: addressesIn(fields.get('bcc')),
    subject: fields.get('subject') ?? null,
    sentAt: Number.isNaN(dateMs) ? null : withoutMilliseconds(dateMs),
    messageId: id === undefined ? null : [id],
    text: blank ? raw.slice(blank.index + blank[0].length).slice(0, TEXT_CHARACTERS_MAX) : '',
  };
}

/** `Bcc` is kept for the sender's own copy; a delivery leaves it out. */
export function writeMessage(message: Omit<Message, 'messageId' | 'sentAt'>, nowMs: number): string {
  const fields = [
    ['From', listed(message.from)],
    ['To', listed(message.to)],
    ['Cc', listed(message.cc)],
    ['Bcc', listed(message.bcc)],
    ['Subject', encodedWord(message.subject ?? '')],
    ['Date', new Date(nowMs).toUTCString().replace('GMT', '+0000')],
    ['Message-ID', `<${randomUUID()}@sandbox>`],
    ['MIME-Version', '1.0'],
    ['Content-Type', 'text/plain; charset=utf-8'],
  ];
  const head = fields.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}`);
  return `${head.join('\r\n')}\r\n\r\n${message.text}`;
}

export const withoutBcc = (raw: string): string => raw.replace(/^bcc:.*(?:\r?\n[ \t].*)*\r?\n/im, '');

/** UTC in seconds, as JMAP writes it. */
export const withoutMilliseconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

function addressesIn(value = ''): readonly MailboxAddress[] {
  return [...value.matchAll(ADDRESS)].map(([, quoted, plain, bracketed, bare = '']) => ({
    name: (quoted ?? plain ?? '').trim() || null,
    email: bracketed ?? bare,
  }));
}

function listed(addresses: readonly MailboxAddress[]): string {
  const one = ({ name, email }: MailboxAddress) => (name === null ? email : `${encodedWord(name)} <${email}>`);
  // No line break of a client begins another field.
  return addresses
    .map(one)
    .join(', ')
    .replace(/[\r\n]+/g, ' ');
}

/** RFC 2047. */
function encodedWord(text: string): string {
  const line = text.replace(/[\r\n]+/g, ' ');
  return /^[\x20-\x7e]*$/.test(line) ? line : `=?utf-8?B?${Buffer.from(line).toString('base64')}?=`;
}

function decodedWords(value: string): string {
  return value.replace(/=\?utf-8\?B\?([^?]*)\?=/gi, (_, text: string) => Buffer.from(text, 'base64').toString());
}
