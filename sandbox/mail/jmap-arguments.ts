// What the methods of JMAP share: their arguments, and the parts of the server that they use.
import type { Mailboxes } from './mailboxes.ts';
import type { Pushes } from './pushes.ts';
import type { MailStore } from './store.ts';

export interface MethodParts {
  readonly store: MailStore;
  readonly mailboxes: Mailboxes;
  readonly pushes: Pushes;
  readonly now: () => number;
}

/** The account and what calls before created, by the client's own names. */
export interface MethodContext {
  readonly accountId: string;
  readonly name: string;
  readonly createdIds: Map<string, string>;
}

export type Arguments = Readonly<Record<string, unknown>>;
export type JmapMethod = (given: Arguments, context: MethodContext) => Promise<Arguments> | Arguments;

/** An error of one call, RFC 8620 section 3.6.2. */
export class MethodError extends Error {
  readonly type: string;

  constructor(type: string) {
    super(type);
    this.type = type;
  }
}

/** The answer of a `get`: the requested objects, with the requested members. */
export function found(
  { ids, properties }: Arguments,
  all: readonly { readonly id: string }[],
  accountId: string,
  state: string,
): Arguments {
  if (ids !== undefined && ids !== null && !Array.isArray(ids)) throw new MethodError('invalidArguments');
  const asked = Array.isArray(ids) ? (ids as readonly unknown[]) : all.map(({ id }) => id);
  const list = asked.flatMap((id) => all.find((one) => one.id === id) ?? []).map((one) => selected(one, properties));
  return { accountId, state, list, notFound: asked.filter((id) => !all.some((one) => one.id === id)) };
}

function selected(one: { readonly id: string }, properties: unknown): object {
  if (!Array.isArray(properties)) return one;
  return Object.fromEntries(Object.entries(one).filter(([name]) => name === 'id' || properties.includes(name)));
}

/** An id, or that of an object that the client has named itself. */
export function resolvedId(id: unknown, createdIds: ReadonlyMap<string, string>): string {
  const text = typeof id === 'string' ? id : '';
  return text.startsWith('#') ? (createdIds.get(text.slice(1)) ?? text) : text;
}

/** Nothing, where the client sent none. @throws MethodError */
export function objectIn(value: unknown): Arguments {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new MethodError('invalidArguments');
  return value as Arguments;
}
