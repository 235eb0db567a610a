// The mail server of the sandbox behind a gateway, under the shipped configuration: both real, both in this process, on free ports.

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { MailServerOptions } from '../../sandbox/mail/options.ts';
import { createMailServer, type MailServer } from '../../sandbox/mail/server.ts';
import { type Answer, ask, requestOf } from './connection.ts';
import { temporaryDirectory } from './directory.ts';
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';

/** The name of the administrator in config/upstreams.yaml. */
export const ADMINISTRATOR = 'admin';
const ENTRY = 'stalwart_admin_credentials';

export interface Mail {
  readonly url: string;
  /** Method and target of everything that reached it, in order. */
  readonly received: string[];
  /** Administration calls that would have changed a real server. */
  readonly sideEffects: string[];
  readonly server: MailServer;
  /** Changes the password of the administrator. */
  useAdministrator(password: string): void;
  close(): Promise<void>;
}

/** Starts a mail server with this password of the administrator. */
export async function startMail(password: string, options: Partial<MailServerOptions> = {}): Promise<Mail> {
  const received: string[] = [];
  const sideEffects: string[] = [];
  let current = password;
  const mail = createMailServer({
    databasePath: ':memory:',
    administrator: () => ({ user: ADMINISTRATOR, password: current }),
    onSideEffect: (path) => sideEffects.push(path),
    ...options,
  });
  const { server } = mail;
  server.prependListener('request', ({ method, url }) => received.push(`${method} ${url}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    sideEffects,
    server: mail,
    useAdministrator(next) {
      current = next;
    },
    close: mail.close,
  };
}

export interface MailGateway {
  readonly gateway: TestGateway;
  /** `Authorization` of the administrator, with the password that the gateway was started with. */
  readonly administrator: string;
  /** The directory of the secrets store. */
  readonly secrets: string;
  /** Puts another password into the secrets store. */
  useSecret(password: string): void;
  /** Sends a request with the administrator's credentials, unless the headers have others. */
  call(line: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts a gateway with the shipped entry of the mail server at another address. `entry` replaces members of it. */
export async function startMailGateway(
  url: string,
  password: string,
  entry: object = {},
  options: GatewayOptions = {},
): Promise<MailGateway> {
  const secrets = temporaryDirectory();
  const useSecret = (next: string) => writeFileSync(join(secrets, ENTRY), `${ADMINISTRATOR}:${next}\n`);
  useSecret(password);
  const roomy = { requests: 1_000_000 };
  const gateway = await startGateway({
    upstreams: { mail: { ...shippedEntry(), live: url, ...entry } },
    limits: { tiers: { standard: roomy, premium: roomy, 'mail-administrator': roomy }, ...options.limits },
    gateway: options.gateway ?? {},
    ...(options.files && { files: options.files }),
    environment: { ...options.environment, SECRETS_DIR: secrets },
    ...(options.now && { now: options.now }),
  });
  const administrator = basic(ADMINISTRATOR, password);
  return {
    gateway,
    administrator,
    secrets,
    useSecret,
    call(line, body, headers = {}) {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const type = text === undefined ? {} : { 'Content-Type': 'application/json' };
      return ask(gateway.port, requestOf(line, { Authorization: administrator, ...type, ...headers }, text));
    },
    async stop() {
      await gateway.stop();
    },
  };
}

/** Starts a mail server, and a gateway in front of it. */
export async function startMailWorld(
  entry: object = {},
  options: GatewayOptions = {},
  mailOptions: Partial<MailServerOptions> = {},
): Promise<MailGateway & { readonly mail: Mail; readonly password: string }> {
  const password = newPassword();
  const mail = await startMail(password, mailOptions);
  const world = await startMailGateway(mail.url, password, entry, options);
  return {
    ...world,
    mail,
    password,
    async stop() {
      await world.stop();
      await mail.close();
    },
  };
}

/** Returns the shipped entry of the mail server. */
export function shippedEntry(): Record<string, unknown> {
  const file = readFileSync(new URL('../../config/upstreams.yaml', import.meta.url), 'utf8');
  const { upstreams } = parse(file) as { upstreams: { mail: Record<string, unknown> } };
  return upstreams.mail;
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Returns a new random password of letters and digits. */
export function newPassword(): string {
  return `Pw${randomBytes(12).toString('hex')}`;
}

/** Returns the JSON body of an answer. */
export function bodyOf(answer: Answer): { readonly data: unknown; readonly error: Record<string, unknown> } {
  return JSON.parse(answer.body.toString('utf8'));
}
