// Finds the caller of a simulated request by a named key or organization, or by the key in its Authorization header.

import { ANONYMOUS, type CredentialReaders } from '../../auth/authenticate.ts';
import { ANY_KEY } from '../../auth/capability.ts';
import { parseAuthorization } from '../../auth/credentials.ts';
import type { KeyAndOwner } from '../../auth/store/stored-key.ts';
import { toCaller } from '../../auth/to-caller.ts';
import type { Caller, Mode } from '../../exchange/caller.ts';
import type { OpenKeyStore } from '../../process/open-key-store.ts';
import { readersOf } from '../../serving/rehearsal/stand-ins.ts';
import type { CommandContext } from '../context.ts';
import { noOrganization } from '../here/deps.ts';

const ANY_PERSON = {
  scheme: 'session',
  subject: 'any person',
  issuer: 'any provider',
  session: 'any session',
} as const;

export interface WhoFlags {
  readonly org?: string;
  readonly key?: string;
  readonly mode?: Mode;
  readonly scopes?: readonly string[];
  /** Whether a person of the organization has signed in, instead of a key. */
  readonly session?: true;
  /** The Authorization header of the request. */
  readonly authorization: string | undefined;
  /** Whether the client's address was given; otherwise a key's address restriction is not checked. */
  readonly knowsAddress: boolean;
}

interface Who {
  /** The organization; undefined if the caller is unknown. */
  readonly organization: string | undefined;
  readonly readers: CredentialReaders;
}

/** Opens the key store only for a request that needs it. */
export async function findWho(
  context: CommandContext,
  open: () => Promise<OpenKeyStore>,
  flags: WhoFlags,
): Promise<Who> {
  const named = await namedCaller(context, open, flags);
  const shown = named === undefined ? await shownKey(context, open, flags.authorization) : undefined;
  const caller = named ?? (shown && toCaller(shown));
  const known = caller && withoutAddresses(caller, flags.knowsAddress);
  // A named caller needs no credentials.
  const readers = named === undefined ? readersOf(undefined, known) : readersOf(known);
  return { organization: known?.organization?.id, readers };
}

async function namedCaller(
  { fail, usage }: CommandContext,
  open: () => Promise<OpenKeyStore>,
  { org, key: keyId, mode, scopes, session }: WhoFlags,
): Promise<Caller | undefined> {
  if (session === true && (org === undefined || keyId !== undefined || mode !== undefined))
    return usage('A person is named by --org and --scopes alone.');
  if (keyId === undefined && org === undefined) return undefined;
  if (keyId?.startsWith('sk_')) return usage('This is a key, not its id. `bin/gateway keys list` shows the ids.');
  const { store } = await open();
  if (keyId !== undefined) {
    const key = await store.keys.get(keyId);
    if (key === undefined) return fail(`There is no key ${keyId}.`);
    if (org !== undefined && org !== key.organization) return usage(`${keyId} is a key of ${key.organization}.`);
    const organization = await store.organizations.get(key.organization);
    if (organization === undefined) return fail(`There is no organization ${key.organization}.`);
    return changeCaller(toCaller({ key, organization }), mode, scopes);
  }
  if (org === undefined) return undefined;
  const organization = await store.organizations.get(org);
  if (organization === undefined) return fail(await noOrganization(store, org));
  if (session === true) return changeCaller({ ...ANONYMOUS, ...ANY_PERSON, organization }, 'live', scopes ?? []);
  const anyKey = { ...ANONYMOUS, subject: ANY_KEY, organization };
  return changeCaller(anyKey, mode ?? 'live', scopes ?? ['*']);
}

function changeCaller(caller: Caller, mode: Mode = caller.mode, scopes: Iterable<string> = caller.scopes): Caller {
  return { ...caller, mode, scopes: new Set(scopes) };
}

function withoutAddresses(caller: Caller, knowsAddress: boolean): Caller {
  return knowsAddress ? caller : { ...caller, allowsAddress: undefined };
}

async function shownKey(
  { usage }: CommandContext,
  open: () => Promise<OpenKeyStore>,
  header: string | undefined,
): Promise<KeyAndOwner | undefined> {
  const credentials = parseAuthorization(header);
  if (credentials === undefined) return undefined;
  const { scheme, value } = credentials;
  if (scheme === 'basic' || value.split('.').length === 3)
    return usage('Tokens and passwords are not tried out here. Name the caller with --org, --key and --scopes.');
  const { store, digestOf } = await open();
  return store.keys.findByDigest(digestOf(value));
}
