// The capability `auth`: error codes, and what the log and `gateway explain` say about callers.

import { type Capability, type FactsOf, listIn, type StageOutcome, usualNote } from '../catalogue/capability.ts';
import type { Caller } from '../exchange/caller.ts';
import { AUTH_CODES } from './codes.ts';

const FIELDS = {
  organization: {
    section: 'caller',
    stage: 'authenticate',
    type: 'text',
    forClients: true,
    notes: { caller: usualNote<Caller | undefined>() },
    meaning: 'the organization of the caller',
  },
  tier: { section: 'caller', stage: 'authenticate', type: 'text', forClients: true, meaning: 'its tier' },
  key_id: {
    section: 'caller',
    stage: 'authenticate',
    type: 'text',
    forClients: true,
    meaning: 'the id of the API key; `anonymous`: the operation is public',
  },
  token_issuer: {
    section: 'caller',
    stage: 'authenticate',
    type: 'text',
    // A name in gateway.yaml.
    forClients: false,
    meaning: 'the issuer of the token, where a caller has one instead of a key; the provider of a session',
  },
  subject: {
    section: 'caller',
    stage: 'authenticate',
    type: 'text',
    forClients: true,
    meaning: 'the subject of the token or session, or the user name',
  },
  session: {
    section: 'caller',
    stage: 'authenticate',
    type: 'text',
    // The session belongs to the person who has signed in, and the organization need not learn about it.
    forClients: false,
    meaning: 'the id of the session of a person who has signed in; it gives no access',
  },
  mode: {
    section: 'caller',
    stage: 'authenticate',
    type: '`live`, `test`',
    forClients: true,
    meaning: 'the mode of the caller',
  },
  hint: {
    section: 'refusal',
    stage: 'authenticate',
    type: 'text',
    forClients: true,
    meaning: 'the reason of the refusal in one word',
  },
  required_scopes: {
    section: 'refusal',
    stage: 'authorize',
    type: 'list of texts',
    forClients: true,
    meaning: 'the scopes of the operation, if the caller lacks one',
  },
  held_scopes: {
    section: 'refusal',
    stage: 'authorize',
    type: 'list of texts',
    forClients: true,
    meaning: 'the scopes of that caller, at most 64',
  },
} as const;

const FACTS: FactsOf<typeof FIELDS, 'code'> = {
  mode: { authenticate: (_, line) => callerIn(line) },
  organization: { toldBy: 'mode' },
  tier: { toldBy: 'mode' },
  key_id: { toldBy: 'mode' },
  token_issuer: { toldBy: 'mode' },
  subject: { toldBy: 'mode' },
  session: { toldBy: 'mode' },
  hint: { authenticate: (hint, { stage }) => (stage === 'authenticate' ? `reason: ${hint}` : undefined) },
  required_scopes: { authorize: (scopes, _, outcome) => scopesIn('required', scopes, outcome) },
  held_scopes: { authorize: (scopes, _, outcome) => scopesIn('held', scopes, outcome) },
  code: {
    authorize: (_, { required_scopes: required, mode, tier }, outcome) =>
      outcome === 'refused' && required === undefined ? `mode ${mode}, tier ${tier}` : undefined,
  },
};

export const AUTH = { codes: AUTH_CODES, fields: FIELDS, facts: FACTS } as const satisfies Capability;

/** Replaces the key id in a rehearsal for which only an organization is named. */
export const ANY_KEY = 'any key';

/** Names the credential, and the organization if it has one. */
function callerIn(line: Readonly<Record<string, unknown>>): string {
  const { organization, tier, mode } = line;
  const who = credentialIn(line);
  return organization === undefined ? who : `${who}, organization ${organization}, tier ${tier}, mode ${mode}`;
}

function credentialIn({
  key_id: key,
  token_issuer: issuer,
  subject,
  session,
}: Readonly<Record<string, unknown>>): string {
  if (session !== undefined) return `session ${session} of ${subject}, signed in by ${issuer}`;
  if (issuer !== undefined) return `token of ${issuer} for ${subject}`;
  if (key === undefined) return `user name ${subject}`;
  if (key === 'anonymous') return 'anonymous: the operation is public';
  return key === ANY_KEY ? ANY_KEY : `key ${key}`;
}

function scopesIn(which: string, scopes: unknown, outcome: StageOutcome): string | undefined {
  return outcome === 'refused' ? `${which} scopes: ${listIn(scopes).join(' ') || 'none'}` : undefined;
}
