// A sandbox mail server in this process behind a real socket, with a password made at run time and a clock that stands
// still until a test moves it.
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createMailServer, type MailServer, type MailServerOptions } from '../../../sandbox/mail/server.ts';

export const PASSWORD = `Pw${randomBytes(8).toString('hex')}`;
export const ADMINISTRATOR = basic('admin', PASSWORD);

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

interface MailReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted member by member
  readonly body: any;
}

export interface Sent {
  /** Default the administrator's; null sends none. */
  readonly as?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface TestMail {
  readonly url: string;
  readonly port: number;
  readonly mail: MailServer;
  readonly clock: { nowMs: number };
  call(method: string, path: string, sent?: Sent): Promise<MailReply>;
  /** Creates a principal and returns its number, or fails with the server's answer. */
  create(principal: Readonly<Record<string, unknown>>): Promise<number>;
  /** A principal as the server shows it. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted member by member
  show(name: string): Promise<any>;
}

/** Starts a mail server for one test, or for a file with `{ after }` of node:test. Faults of its own fail the test. */
export async function mailFor(
  context: { after(stop: () => Promise<void>): void },
  options: Partial<MailServerOptions> = {},
): Promise<TestMail> {
  const clock = { nowMs: Date.parse('2026-03-01T12:00:00.000Z') };
  const faults: unknown[] = [];
  const mail = createMailServer({
    databasePath: ':memory:',
    administrator: () => ({ user: 'admin', password: PASSWORD }),
    now: () => clock.nowMs,
    onFault: (error) => faults.push(error),
    ...options,
  });
  await new Promise<void>((resolve) => mail.server.listen(0, '127.0.0.1', resolve));
  context.after(async () => {
    if (mail.server.listening) await mail.close();
    if (faults.length > 0) throw new AggregateError(faults, 'the mail server had faults of its own');
  });
  const { port } = mail.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  async function call(method: string, path: string, sent: Sent = {}): Promise<MailReply> {
    const { as = ADMINISTRATOR, body, headers } = sent;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { ...(as === null ? {} : { authorization: as }), ...headers },
      ...(text === undefined ? {} : { body: text }),
    });
    return replyOf(response);
  }

  return {
    url,
    port,
    mail,
    clock,
    call,
    async create(principal) {
      const { status, text, body } = await call('POST', '/api/principal', { body: principal });
      if (status !== 200 || !Number.isInteger(body?.data)) throw new Error(`${status} ${text}`);
      return body.data;
    },
    show: async (name) => (await call('GET', `/api/principal/${encodeURIComponent(name)}`)).body?.data,
  };
}

async function replyOf(response: Response): Promise<MailReply> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}
