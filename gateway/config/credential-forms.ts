// Explains a `credential` in a form that other gateways have: several kinds, a list, the settings of a kind without its name, or a part of
// an address. The messages do not repeat the value of `secret`, because it may be the secret itself.

import { isRecord, objectAt } from '../shared/is-record.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { entryFor } from '../shared/secret-names.ts';
import { withoutCredentials } from '../shared/text.ts';
import type { Source } from '../shared/yaml-source.ts';

type Path = readonly (string | number)[];
type Block = Readonly<Record<string, unknown>>;
type Explanation = readonly [place: Path, reason: string, remedy: string];

const KINDS = ['apiKey', 'basic', 'bearer', 'headers'];
/** The words for the kinds in a key `type`, in small letters. */
const KIND_WORDS: Readonly<Record<string, string>> = {
  apikey: 'apiKey: { header: X-API-Key, secret: … }',
  basic: 'basic: { user: …, secret: … }',
  bearer: 'bearer: { secret: … }',
  token: 'bearer: { secret: … }',
  jwt: 'bearer: { secret: … }',
};

/** Returns the mistake of a credential at the path; undefined if its form is not one of those explained here. */
export function credentialMistake(source: Source, path: Path): Mistake | undefined {
  const value = path.reduce<unknown>((holder, name) => (holder as Block | undefined)?.[name], source.value);
  const explained = explain(value) ?? writtenHeader(value, String(path[1]));
  if (explained === undefined) return undefined;
  const [place, reason, remedy] = explained;
  return source.mistakeAtKey([...path, ...place], reason, remedy);
}

/** Returns the mistake of a block `headers` in an entry, beside its credential; undefined if it has none with a secret. */
export function headersMistake(source: Source, path: Path): Mistake | undefined {
  const [, block, name] = path;
  const headers = objectAt(objectAt(source.value, 'upstreams'), String(block))[String(name)];
  const isSecret = Object.keys(isRecord(headers) ? headers : {}).some((key) => /auth|key|token|secret/i.test(key));
  const explained = name === 'headers' && isSecret ? writtenHeader({ headers }, String(block)) : undefined;
  return explained && source.mistakeAtKey(path, explained[1], explained[2]);
}

/** Returns the rest of an address that contains credentials, and where they belong; undefined for another value. */
export function credentialsInAddress(text: unknown, path: Path): Pick<Mistake, 'reason' | 'remedy'> | undefined {
  if (typeof text !== 'string' || withoutCredentials(text) === text) return undefined;
  const reason = 'an address contains no credentials, because messages and the console show it.';
  const remedy = 'Remove them from the address.';
  if (path[0] !== 'upstreams') return { reason, remedy };
  const { entry, store } = entryFor(String(path[1]));
  const form = text.includes('?')
    ? `apiKey: { header: X-API-Key, secret: ${entry} }`
    : `basic: { user: …, secret: ${entry} }`;
  return { reason, remedy: `${remedy} Write credential: { ${form} } into the entry. ${store}.` };
}

function explain(value: unknown): Explanation | undefined {
  if (Array.isArray(value))
    return value.every(isRecord) ? severalKinds(value.flatMap((one) => Object.entries(one))) : undefined;
  if (!isRecord(value)) return undefined;
  const several = severalKinds(Object.entries(value));
  if (several !== undefined) return several;
  const { apiKey, header, type } = value;
  if (isRecord(apiKey) && ('query' in apiKey || apiKey.in === 'query'))
    return [
      ['apiKey', 'query' in apiKey ? 'query' : 'in'],
      'the gateway sends no keys in the query, because logs and proxies record it.',
      'Write apiKey: { header: …, secret: … } with a header that the service accepts.',
    ];
  if (KINDS.some((kind) => kind in value)) return undefined;
  const written = typeof type === 'string' ? KIND_WORDS[type.toLowerCase().replace(/[^a-z]/g, '')] : undefined;
  if (written !== undefined) return [['type'], 'the kind of a credential is a key of its own.', `Write ${written}.`];
  if (typeof header !== 'string') return undefined;
  return [['header'], 'the kind of the credential is missing.', `Write apiKey: { header: ${header}, secret: … }.`];
}

/** Explains a header that is written with its value, which is the secret itself. */
function writtenHeader(value: unknown, block: string): Explanation | undefined {
  const headers = isRecord(value) && isRecord(value.headers) ? value.headers : {};
  const [[name, text] = [], ...more] = Object.entries(headers).filter(([key]) => !['names', 'secret'].includes(key));
  if (name === undefined || more.length > 0) return undefined;
  const { entry, store } = entryFor(block);
  const isAuthorization = name.toLowerCase() === 'authorization';
  const form =
    isAuthorization && /^bearer /i.test(String(text))
      ? `bearer: { secret: ${entry} }`
      : isAuthorization && /^basic /i.test(String(text))
        ? `basic: { user: …, secret: ${entry} }`
        : `apiKey: { header: ${name}, secret: ${entry} }`;
  const reason = 'the value of a header is a secret, which belongs in no configuration file.';
  return [['headers'], reason, `Write credential: { ${form} }. ${store}.`];
}

/** Returns the form that sends several credentials at once; undefined if there are fewer than two. */
function severalKinds(entries: readonly (readonly [string, unknown])[]): Explanation | undefined {
  const kinds = entries.filter(([kind]) => KINDS.includes(kind));
  if (kinds.length < 2 || kinds.length < entries.length) return undefined;
  const lines = kinds.flatMap(([kind, settings]) => headersOf(kind, isRecord(settings) ? settings : {}));
  const names = lines.map(([name]) => name);
  const reason = 'an entry has one credential.';
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    return [[], reason, 'Two of these are sent in the same header: remove one of them.'];
  const form = `credential: { headers: { names: [${names.join(', ')}], secret: … } }`;
  const secret = lines.map((line) => `"${line.join(': ')}"`).join(' and ');
  return [[], reason, `To send both at once, write ${form}, with a secret of the lines ${secret}.`];
}

/** Returns the headers of a kind, with the values that the secret has for them. */
function headersOf(kind: string, { header, names }: Block): [name: string, value: string][] {
  if (kind === 'bearer') return [['Authorization', 'Bearer …']];
  if (kind === 'basic') return [['Authorization', 'Basic BASE64_OF_USER:PASSWORD']];
  const given = kind === 'apiKey' ? [header ?? 'X-API-Key'] : [names ?? []].flat();
  return given.map((name) => [String(name), '…']);
}
