// The kinds of credential that the gateway uses at upstreams. Each kind makes the headers of a request from the value of its secret.

import { closest } from '../../shared/mistakes.ts';
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
      const values = headerLines(text);
      const isComplete =
        text.split('\n').length === names.length && names.every((name) => KEY.test(values.get(name) ?? ''));
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

/** A login in plain characters, by which a password that happens to be Base64 is told apart. */
const LOGIN = /^[\w.@-]+:[ -~]+$/;

function decoded(text: string): string {
  return /^[A-Za-z0-9+/]{4,}={0,2}$/.test(text) ? Buffer.from(text, 'base64').toString('latin1') : '';
}

/** Returns the form that the secret lacks, without the secret itself; undefined if the secret can be parsed. */
export function credentialProblem(text: string, settings: CredentialSettings): string | undefined {
  const isParsed = parseCredential(text, settings) !== undefined;
  if (isParsed && settings.kind === 'basic' && !text.includes(':') && LOGIN.test(decoded(text)))
    return 'it holds user:password in Base64, and the gateway encodes it itself. It must hold user:password as it is.';
  if (isParsed) return settings.kind === 'headers' ? loginProblem(headerLines(text)) : undefined;
  const missing = settings.kind === 'headers' ? missingHeader(headerLines(text), settings.names) : '';
  return `it must hold ${CREDENTIAL_KINDS[settings.kind].form}.${missing}`;
}

/** Returns the values of a secret with lines of headers, by their names in lower case. */
function headerLines(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).map((line) => /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? []);
  return new Map(lines.map(([, name = '', value = '']) => [name.toLowerCase(), value]));
}

/** Names the first header without a line, and the line that is probably meant for it. */
function missingHeader(lines: ReadonlyMap<string, string>, names: readonly string[]): string {
  const missing = names.find((name) => !lines.has(name));
  if (missing === undefined) return '';
  const others = [...lines.keys()].filter((name) => !names.includes(name));
  const near = closest(missing, others);
  return ` It has no line for ${missing}.${near === undefined ? '' : ` Is "${near}" a misspelling of it?`}`;
}

/** Returns what is wrong with `Authorization: Basic` of a user name and a password that are not in Base64 (RFC 7617 section 2). */
function loginProblem(lines: ReadonlyMap<string, string>): string | undefined {
  const [, written] = /^Basic +(.*)$/i.exec(lines.get('authorization') ?? '') ?? [];
  if (written === undefined) return undefined;
  return /^[\w+/-]+=*$/.test(written) && decoded(written).includes(':')
    ? undefined
    : 'behind "Authorization: Basic" it must hold user:password in Base64, as "printf %s user:password | base64" prints it.';
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
