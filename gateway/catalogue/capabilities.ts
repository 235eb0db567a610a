// The list of capabilities, by folder. Their codes, log fields and facts are in this order wherever they are listed.

import { AUTH } from '../auth/capability.ts';
import { CONTRACT } from '../contract/capability.ts';
import { EDGE } from '../edge/capability.ts';
import { LIMITS } from '../limits/capability.ts';
import { MCP } from '../mcp/capability.ts';
import { OVERLOAD } from '../overload/capability.ts';
import { REPLAY } from '../replay/capability.ts';
import { BROWSER_SESSIONS } from '../sessions/capability.ts';
import { STREAMS } from '../streams/capability.ts';
import { TUNNEL } from '../tunnel/capability.ts';
import { UPSTREAM } from '../upstream/capability.ts';
import { VERSIONS } from '../versions/capability.ts';
import type { Capability } from './capability.ts';

export const ALL_CAPABILITIES = {
  auth: AUTH,
  sessions: BROWSER_SESSIONS,
  edge: EDGE,
  tunnel: TUNNEL,
  contract: CONTRACT,
  versions: VERSIONS,
  limits: LIMITS,
  replay: REPLAY,
  upstream: UPSTREAM,
  streams: STREAMS,
  overload: OVERLOAD,
  mcp: MCP,
} as const;

type ListedCapability = (typeof ALL_CAPABILITIES)[keyof typeof ALL_CAPABILITIES];
/** `Each<'codes'>` is the union of all tables of codes: `{ api_key_invalid: … } | { rate_limited: … } | …`. */
type Each<Member extends string> = ListedCapability extends infer One
  ? One extends Readonly<Record<Member, infer Rows>>
    ? Rows
    : never
  : never;
/** `Merged<{ a: 1 } | { b: 2 }>` is `{ a: 1 } & { b: 2 }`. */
type MergedRows<Union> = (Union extends unknown ? (rows: Union) => void : never) extends (rows: infer All) => void
  ? All
  : never;

type AllCapabilities = typeof ALL_CAPABILITIES;
/** `NamesOf<'fields', 'streams'>` is `'stream' | 'stream_end'`. */
type NamesOf<Member extends string, Key extends keyof AllCapabilities> = Key extends unknown
  ? AllCapabilities[Key] extends Readonly<Record<Member, infer Rows>>
    ? keyof Rows
    : never
  : never;
/** The names of rows that two capabilities have. The later row would replace the earlier row. */
type DoubledNames<Member extends string> = {
  [Key in keyof AllCapabilities]: NamesOf<Member, Key> & NamesOf<Member, Exclude<keyof AllCapabilities, Key>>;
}[keyof AllCapabilities];

/** The rows of all capabilities in one table. */
export type AllRows<Member extends 'codes' | 'fields'> = MergedRows<Each<Member>>;

/** A code or a field that two capabilities have does not compile here, and the compiler's error names it. */
const NO_ROWS: Readonly<Record<DoubledNames<'codes' | 'fields'>, never>> = {};

export function allRows<Member extends 'codes' | 'fields'>(member: Member): AllRows<Member> {
  return Object.assign(
    { ...NO_ROWS },
    ...Object.values<Capability>(ALL_CAPABILITIES).map(({ [member]: rows }) => rows),
  ) as AllRows<Member>;
}
