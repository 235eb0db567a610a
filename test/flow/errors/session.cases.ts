// Refusals about sessions of people. Those of a login are pages.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import type { BrowserAnswer } from '../../support/cookie-browser.ts';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { SessionGateway } from '../../support/sessions.ts';

type Case = RefusalCase<SessionGateway>;

const NAME = 'gateway-session';
const own = { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'cors' };

const send = ({ gateway, origin }: SessionGateway, line: string, headers: Record<string, string> = {}, body?: string) =>
  ask(gateway.port, requestOf(line, { Host: new URL(origin).host, ...headers }, body));

async function withSession(world: SessionGateway, line: string, headers: Record<string, string>): Promise<Answer> {
  const browser = await world.signIn();
  const cookie = `${NAME}=${browser.cookies(world.origin).get(NAME)?.value}`;
  return send(world, line, { ...headers, Cookie: cookie });
}

/** Acts between two statements on the file of the session store. */
async function withStoreChanged<T>(
  { gateway }: SessionGateway,
  change: string,
  undo: string,
  act: () => Promise<T>,
): Promise<T> {
  const [file = ''] = readdirSync(gateway.dataDirectory).filter((name) => /^sessions.*\.db$/.test(name));
  const database = new DatabaseSync(join(gateway.dataDirectory, file));
  database.exec(change);
  try {
    return await act();
  } finally {
    database.exec(undo);
    database.close();
  }
}

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

export const sessionCases: readonly Case[] = [
  {
    name: 'a page without a session',
    code: 'session_required',
    provoke: (world) => send(world, 'GET /v1/things', own),
  },
  {
    name: 'an operation of sessions alone',
    code: 'session_required',
    provoke: (world) => send(world, 'GET /session'),
  },
  {
    name: 'a session that has ended',
    code: 'session_expired',
    provoke: (world) => send(world, 'GET /v1/things', { ...own, Cookie: `${NAME}=${'A'.repeat(43)}` }),
    // Another tab may just have signed in.
    also: ({ headers }) => assert.equal(headers['set-cookie'], undefined),
  },
  {
    name: 'a request of another site',
    code: 'cross_site_request',
    provoke: (world) => withSession(world, 'GET /v1/things', { 'Sec-Fetch-Site': 'cross-site' }),
  },
  {
    name: 'a way back to another site',
    code: 'return_to_invalid',
    provoke: (world) => send(world, 'GET /session/login?provider=staff&return_to=//evil.example'),
  },
  {
    name: 'a login with none of several providers',
    code: 'login_provider_unknown',
    provoke: (world) => send(world, 'GET /session/login'),
    also: ({ error }) => assert.deepEqual(error.providers, ['staff', 'away']),
  },
  {
    name: 'a forged logout token',
    code: 'logout_token_invalid',
    provoke: (world) => send(world, 'POST /session/backchannel-logout', form, 'logout_token=x'),
  },
  {
    name: 'a logout token of a provider that is away',
    code: 'provider_unavailable',
    provoke(world) {
      const claims = Buffer.from('{"iss":"http://127.0.0.1:9"}').toString('base64url');
      return send(world, 'POST /session/backchannel-logout', form, `logout_token=e30.${claims}.x`);
    },
  },
  {
    name: 'a session while the store is away',
    code: 'session_store_unavailable',
    provoke: (world) =>
      withStoreChanged(
        world,
        'ALTER TABLE sessions RENAME TO sessions_elsewhere',
        'ALTER TABLE sessions_elsewhere RENAME TO sessions',
        () => send(world, 'GET /v1/things', { ...own, Cookie: `${NAME}=${'B'.repeat(43)}` }),
      ),
    also: ({ body }) => assert.doesNotMatch(body.toString(), /sqlite|table|_elsewhere/i),
  },
  {
    name: 'another session of the person, which the store reads but cannot end',
    code: 'session_store_unavailable',
    async provoke(world) {
      const other = await world.signIn();
      const { id } = (await other.fetch(`${world.origin}/session`)).body;
      return withStoreChanged(
        world,
        "CREATE TRIGGER fails BEFORE INSERT ON ends BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END",
        'DROP TRIGGER fails',
        () => withSession(world, `DELETE /session/${id}`, own),
      );
    },
    also: ({ body }) => assert.doesNotMatch(body.toString(), /disk/),
  },
];

/** A refusal that a browser navigates to. */
interface PageCase {
  readonly name: string;
  readonly code:
    | 'login_failed'
    | 'login_not_permitted'
    | 'login_provider_unknown'
    | 'provider_unavailable'
    | 'return_to_invalid';
  /** A sentence of the page. */
  readonly says: RegExp;
  provoke(world: SessionGateway): Promise<BrowserAnswer>;
}

export const pageCases: readonly PageCase[] = [
  {
    name: 'a callback that no login of this browser waits for',
    code: 'login_failed',
    says: /no such sign-in in progress/,
    provoke: ({ origin }) => createCookieBrowser().step(`${origin}/session/callback?state=x&code=y`, 'cross-site'),
  },
  {
    name: 'a person whom the provider refuses',
    code: 'login_failed',
    says: /did not sign you in/,
    async provoke({ origin, provider }) {
      const { person } = provider;
      provider.person = 'refuse';
      const answer = await createCookieBrowser().open(`${origin}/session/login?provider=staff`);
      provider.person = person;
      return answer;
    },
  },
  {
    name: 'a person of an unknown organization',
    code: 'login_not_permitted',
    says: /names no organization/,
    async provoke({ origin, provider }) {
      const { person } = provider;
      provider.person = { subject: 'eve', claims: { org: 'org_unknown' } };
      const answer = await createCookieBrowser().open(`${origin}/session/login?provider=staff`);
      provider.person = person;
      return answer;
    },
  },
  {
    name: 'a provider that is away',
    code: 'provider_unavailable',
    says: /does not respond/,
    provoke: ({ origin }) => createCookieBrowser().step(`${origin}/session/login?provider=away`, 'none'),
  },
  {
    name: 'none of several providers: a button for each',
    code: 'login_provider_unknown',
    says: /<h1>Sign in<\/h1><p>There are several ways to sign in: choose one.*return_to=%2Fapp&#38;provider=staff">Sign in with staff<.*provider=away">Sign in with away</,
    provoke: ({ origin }) => createCookieBrowser().step(`${origin}/session/login?return_to=/app`, 'none'),
  },
  {
    name: 'a name that no provider has',
    code: 'login_provider_unknown',
    says: /No way to sign in has this name\..*Sign in with staff</,
    provoke: ({ origin }) => createCookieBrowser().step(`${origin}/session/login?provider=x"><b>`, 'none'),
  },
  {
    name: 'a way back to another site in a browser',
    code: 'return_to_invalid',
    says: /return_to=%2F&#38;provider=staff">Sign in with staff</,
    provoke: ({ origin }) => createCookieBrowser().step(`${origin}/session/login?return_to=//evil.example`, 'none'),
  },
];
