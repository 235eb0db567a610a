// The kinds of credential that the gateway uses at upstreams. Each kind makes the headers of a request from the value of its secret.

import type { CredentialSettings } from '../settings.ts';

type CredentialKind = CredentialSettings['kind'];

/** The header fields that carry a credential. Most kinds have one field. */
export interface CredentialHeader {
  /** The flat fields. Names are in lower case. */
  readonly fields: readonly string[];
  /** The number by which the latch recognizes a probe (latch.ts); undefined for other headers. */
  readonly probe?: number;
}

interface Login {
  readonly user: string;
  readonly password: string;
}

/** A parsed secret. */
export interface ParsedCredential {
  /**
   * The identity of a credential, which is the same for all its spellings. A new identity means a new credential, which the upstream has
   * not accepted yet.
   */
  readonly identity: string;
  readonly header: CredentialHeader;
  /** The login in the secret; undefined for a kind that clients cannot present by HTTP Basic. */
  readonly login?: Login;
}

interface Kind<K> {
  parse(text: string, settings: Extract<CredentialSettings, { kind: K }>): ParsedCredential | undefined;
  /** The form that a secret must have. The text ends the sentence "it must hold …". */
  readonly form: string;
}

/** The value of a header with a key. */
const KEY = /^[!-~](?:[ -~]*[!-~])?$/;

const CREDENTIAL_KINDS: { readonly [K in CredentialKind]: Kind<K> } = {
  apiKey: {
    form: 'one line of visible characters, without spaces around them',
    parse: (text, { header: name }) =>
      KEY.test(text) ? { identity: text, header: { fields: [name, text] } } : undefined,
  },
  basic: {
    form: 'one line with user:password, or with a password that has no colon',
    parse(text, settings) {
      const login = parseLogin(text, settings.user);
      if (login === undefined) return undefined;
      const value = `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
      return { identity: value, header: { fields: ['authorization', value] }, login };
    },
  },
  bearer: {
    form: 'the token alone, in one line and without "Bearer" in front',
    // RFC 6750 section 2.1.
    parse(text) {
      if (!/^[A-Za-z0-9._~+/-]+=*$/.test(text)) return undefined;
      const value = `Bearer ${text}`;
      return { identity: value, header: { fields: ['authorization', value] } };
    },
  },
  headers: {
    form: 'a line Name: value for each of the headers under names',
    parse(text, { names }) {
      const lines = text.split(/\r?\n/).map((line) => /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? []);
      const values = new Map(lines.map(([, name = '', value = '']) => [name.toLowerCase(), value]));
      const isComplete = lines.length === names.length && names.every((name) => KEY.test(values.get(name) ?? ''));
      const fields = names.flatMap((name) => [name, values.get(name) ?? '']);
      return isComplete ? { identity: fields.join('\n'), header: { fields } } : undefined;
    },
  },
};

/** Returns the text of a secret that the gateway makes up, for an upstream without a real service. */
export function simulatedSecret(settings: CredentialSettings, value: string): string {
  return settings.kind === 'headers' ? settings.names.map((name) => `${name}: ${value}`).join('\n') : value;
}

/** Parses a secret. Returns undefined if the text does not have the form of its kind, for example because the file is truncated. */
export function parseCredential(text: string, settings: CredentialSettings): ParsedCredential | undefined {
  const { parse } = CREDENTIAL_KINDS[settings.kind] as Kind<CredentialKind>;
  return parse(text, settings);
}

/** Returns the form that the secret lacks, without the secret itself; undefined if the secret can be parsed. */
export function credentialProblem(text: string, settings: CredentialSettings): string | undefined {
  return parseCredential(text, settings) === undefined
    ? `it must hold ${CREDENTIAL_KINDS[settings.kind].form}.`
    : undefined;
}

/**
 * Splits a login at the first colon and rejects control characters (RFC 7617 section 2). Rejects an empty user name or password, because
 * the file is then probably truncated.
 */
function parseLogin(text: string, defaultUser: string): Login | undefined {
  const colon = text.indexOf(':');
  const user = colon === -1 ? defaultUser : text.slice(0, colon);
  const password = text.slice(colon + 1);
  return user === '' || password === '' || /\p{Cc}/u.test(text) ? undefined : { user, password };
}
