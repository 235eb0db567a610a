// Reads the `x-gateway-*` members of a contract. An unknown member is a mistake.

import { isRecord } from '../../shared/is-record.ts';
import { type Mistake, suggest } from '../../shared/mistakes.ts';
import type { ContractDocument } from '../reading/document.ts';

/** The values of the members, under their names in upstreams.yaml. */
export interface Extensions {
  readonly upstream?: string;
  readonly limit?: string;
  readonly cost?: number;
  readonly idempotency?: 'optional' | 'required' | 'off';
  readonly body?: 'buffer' | 'stream';
  readonly response?: 'report' | 'refuse' | 'off';
  readonly undeclaredMediaTypes?: 'report' | 'refuse' | 'off';
  readonly undeclaredQuery?: 'refuse' | 'pass' | 'drop';
  readonly timeoutMs?: number;
  readonly upgrade?: 'websocket';
  readonly public?: boolean;
  readonly once?: Readonly<Record<string, unknown>>;
  readonly tool?: Readonly<Record<string, unknown>>;
}

/** Names defined by the configuration that contracts may refer to. */
export interface KnownNames {
  readonly upstreams: readonly string[];
  /** The names of limits; undefined if limits.yaml could not be read, which is already reported. */
  readonly limits: readonly string[] | undefined;
  /** The names among `upstreams` that stand for the gateway itself. Only the contracts of their own entries may have operations there. */
  readonly ownUpstreams?: readonly string[] | undefined;
  /** The paths in the addresses of upstreams; upstreams without a path are left out. */
  readonly addressPaths?: Readonly<Record<string, string>> | undefined;
}

type Check = (value: unknown, known: KnownNames) => { reason: string; remedy: string } | undefined;

const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
      ? undefined
      : { reason: `${JSON.stringify(value)} is not a possible value.`, remedy: `Use one of: ${values.join(', ')}.` };

const nameIn =
  (what: 'upstreams' | 'limits', file: string): Check =>
  (value, known) => {
    const names = known[what];
    if (names === undefined || (typeof value === 'string' && names.includes(value))) return undefined;
    return { reason: `${JSON.stringify(value)} is not defined in ${file}.`, remedy: suggest(String(value), names) };
  };

const wholeUpTo =
  (max: number, what: string): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max
      ? undefined
      : { reason: `${JSON.stringify(value)} is not possible here.`, remedy: `${what} from 1 to ${max}.` };

/** Values that replace members, by the names of the members. */
const membersInPlace: Check = (value) =>
  isRecord(value) && Object.keys(value).length > 0
    ? undefined
    : {
        reason: `${JSON.stringify(value)} is not possible here.`,
        remedy: 'Write members of the answer with the values that a repetition gets, such as { secret: null }.',
      };

const TOOL_MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  name: (value) => typeof value === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(value),
  description: (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 2000,
  hidden: (value) => typeof value === 'boolean',
};

/** The tool by which agents call an operation. */
const toolMembers: Check = (value) =>
  isRecord(value) &&
  Object.keys(value).length > 0 &&
  Object.entries(value).every(([name, one]) => Object.hasOwn(TOOL_MEMBERS, name) && TOOL_MEMBERS[name]?.(one))
    ? undefined
    : {
        reason: `${JSON.stringify(value)?.slice(0, 200)} is not possible here.`,
        remedy:
          'Write { name, description, hidden }: a name of letters, digits, _, - and dots, at most 64; a description of at most 2000 characters; true or false.',
      };

/** The same maxima as in `limits.yaml` and `upstreams.yaml`. */
const COST_MAX = 1_000_000;
const TIMEOUT_MS_MAX = 3_600_000;

interface ExtensionMeaning {
  readonly as: keyof Extensions;
  readonly check: Check;
  /** Whether the member may only be in an operation. */
  readonly ofOperations?: boolean;
}

const EXTENSION_MEANINGS: Readonly<Record<string, ExtensionMeaning>> = {
  'x-gateway-upstream': { as: 'upstream', check: nameIn('upstreams', 'upstreams.yaml') },
  'x-gateway-limit': { as: 'limit', check: nameIn('limits', 'limits.yaml under extra') },
  'x-gateway-cost': { as: 'cost', check: wholeUpTo(COST_MAX, 'A cost is a whole number') },
  'x-gateway-timeout': {
    as: 'timeoutMs',
    check: wholeUpTo(TIMEOUT_MS_MAX, 'A timeout is milliseconds, a whole number'),
  },
  'x-gateway-idempotency': { as: 'idempotency', check: oneOf('optional', 'required', 'off') },
  'x-gateway-body': { as: 'body', check: oneOf('buffer', 'stream') },
  'x-gateway-response': { as: 'response', check: oneOf('report', 'refuse', 'off') },
  'x-gateway-undeclared-media-types': { as: 'undeclaredMediaTypes', check: oneOf('report', 'refuse', 'off') },
  'x-gateway-undeclared-query': { as: 'undeclaredQuery', check: oneOf('refuse', 'pass', 'drop') },
  'x-gateway-upgrade': { as: 'upgrade', check: oneOf('websocket') },
  'x-gateway-public': { as: 'public', check: oneOf(true) },
  'x-gateway-once': { as: 'once', check: membersInPlace },
  'x-gateway-tool': { as: 'tool', check: toolMembers, ofOperations: true },
};

/** Reads the members of one node (document, path item or operation). */
export function extensionsOf(
  document: ContractDocument,
  place: readonly string[],
  node: unknown,
  known: KnownNames,
  mistakes: Mistake[],
): Extensions {
  const says: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(isRecord(node) ? node : {})) {
    if (!name.startsWith('x-gateway-')) continue;
    const meaning = EXTENSION_MEANINGS[name];
    if (!meaning) {
      const remedy = suggest(name, Object.keys(EXTENSION_MEANINGS));
      mistakes.push(document.position().mistakeAtKey([...place, name], `${name} is not known.`, remedy));
      continue;
    }
    // Operations are below `paths`, a path and a method.
    const isMisplaced = meaning.ofOperations === true && place.length < 3;
    const wrong = isMisplaced
      ? { reason: `${name} is possible for an operation only.`, remedy: 'Move it to the operation.' }
      : meaning.check(value, known);
    if (wrong) mistakes.push(document.position().mistakeAt([...place, name], wrong.reason, wrong.remedy));
    else says[meaning.as] = value;
  }
  return says as Extensions;
}
