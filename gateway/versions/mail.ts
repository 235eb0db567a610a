// Formats notices as mail, as messages by RFC 5322 with bodies that every server accepts, and several messages as one mailbox.

import { createHash } from 'node:crypto';
import type { Notice } from './notices.ts';

export interface Sender {
  /** An address. */
  readonly from: string;
  readonly atMs: number;
}

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})*$`);

/** Whether a text is a single address and nothing else, because a header value must not be able to inject another header. */
export function isAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text);
}

/** Returns one message to all contacts with a usable address; undefined if no contact has one. */
export function messageOf(notice: Notice, { from, atMs }: Sender): string | undefined {
  const to = notice.contacts.filter(isAddress);
  if (to.length === 0) return undefined;
  const digest = createHash('sha256').update(`${notice.organization} ${notice.text}`).digest('hex').slice(0, 32);
  const head = [
    `Date: ${new Date(atMs).toUTCString().replace('GMT', '+0000')}`,
    `From: ${from}`,
    // One address per line, because no line may be longer than 998 characters.
    `To: ${to.join(',\r\n ')}`,
    `Subject: ${encodedWords(notice.subject)}`,
    // The same notice gets the same Message-ID.
    `Message-ID: <${digest}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
  ];
  return `${head.join('\r\n')}\r\n\r\n${base64(notice.text)}\r\n`;
}

/** Joins messages in mboxrd format, with a "From " line before each message. Base64 bodies contain no line that begins with "From ". */
export function mailboxOf(messages: readonly string[], { from, atMs }: Sender): string {
  const [weekday, day, month, year, time] = new Date(atMs).toUTCString().replace(',', '').split(' ');
  const line = `From ${from} ${weekday} ${month} ${day} ${time} ${year}`;
  return messages.map((message) => `${line}\n${message.replaceAll('\r\n', '\n')}\n`).join('');
}

/** Encodes header text. ASCII without control characters stays unchanged, and other text becomes encoded words (RFC 2047 section 2). */
function encodedWords(text: string): string {
  if (/^[ -~]*$/.test(text) && text.length < 900 && !text.includes('=?')) return text;
  const words: string[] = [];
  let word = '';
  for (const character of text.replace(/\p{Cc}+/gu, ' ')) {
    if (Buffer.byteLength(word + character) > 42) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word].map((one) => `=?utf-8?B?${Buffer.from(one).toString('base64')}?=`).join('\r\n ');
}

function base64(text: string): string {
  const encoded = Buffer.from(text.replace(/\r?\n/g, '\r\n')).toString('base64');
  return encoded.replace(/(.{76})(?!$)/g, '$1\r\n');
}
