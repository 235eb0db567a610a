// One call of an operation of the gateway's own contract: the checked exchange as its handler reads it.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Caller, Organization } from '../../exchange/caller.ts';
import type { Checked } from '../../exchange/exchange.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import { jsonTreeValue, readJson } from '../../shared/json-tree.ts';
import type { Actor } from '../actor.ts';
import type { AdministrationDeps } from '../deps.ts';
import { createSealedCursors, type SealedCursors } from './cursor.ts';

export interface Call {
  readonly operationId: string;
  readonly requestId: string;
  readonly caller: Caller;
  /** The organization of the caller. Operations for clients work on this organization only. */
  readonly organization: Organization;
  /** Returns the value of a path parameter. */
  path(name: string): string;
  /** Returns the value of a query parameter, or the contract's default; undefined if there is none. */
  query(name: string): string | undefined;
  /** All values of a parameter of the query. */
  queryAll(name: string): readonly string[];
  /** The parsed body; an empty object without one. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the request only asks what would happen. */
  readonly dryRun: boolean;
  /** How long to wait until every running gateway has put the change in force, in milliseconds; undefined for no wait. */
  readonly waitMs: number | undefined;
  /** The value of `If-Match`. */
  readonly ifMatch: string | undefined;
  /** Maximum number of records of a page. */
  readonly limit: number;
  readonly cursors: SealedCursors;
  /** Reads the current rights of the acting key. Throws api_key_revoked if it was revoked after it was authenticated. */
  actor(): Promise<Actor>;
}

export interface Answer {
  /** Default: 200. */
  readonly status?: number;
  readonly body: object;
  readonly etag?: string | undefined;
  readonly location?: string | undefined;
}

export type Handler = (deps: AdministrationDeps, call: Call) => Awaitable<Answer>;
export type Handlers = Readonly<Record<string, Handler>>;

const PARAMETER = /\{([^}]+)\}/g;

export function callOf(deps: AdministrationDeps, checked: Checked): Call {
  const { operation, caller, pathValues, search, rawBody, headers, id } = checked;
  const { organization } = caller;
  if (organization === undefined) throw new GatewayError('insufficient_scope');
  const names = [...operation.path.matchAll(PARAMETER)].map(([, name]) => name);
  const query = new URLSearchParams(search);
  const text = (name: string) => query.get(name) ?? undefined;
  const wait = text('wait');
  return {
    operationId: operation.id,
    requestId: id,
    caller,
    organization,
    path: (name) => pathValues[names.indexOf(name)] as string,
    query: text,
    queryAll: (name) => query.getAll(name),
    body: bodyOf(rawBody),
    dryRun: query.get('dry_run') === 'true',
    waitMs: wait === undefined ? undefined : Number(wait) * 1000,
    ifMatch: headers.get('if-match'),
    limit: Number(query.get('limit') ?? 20),
    cursors: createSealedCursors({
      digestOf: deps.digestOf,
      operationId: operation.id,
      path: pathValues,
      query,
      organization,
    }),
    actor: () => actorOf(deps, caller, id),
  };
}

/** Returns the body as the validator has parsed it. JSON.parse must not be used, because it misreads names with escapes. */
function bodyOf(rawBody: Buffer | undefined): Readonly<Record<string, unknown>> {
  const root = rawBody && readJson(rawBody);
  return root === undefined ? {} : (jsonTreeValue(root) as Readonly<Record<string, unknown>>);
}

async function actorOf({ store }: AdministrationDeps, caller: Caller, requestId: string): Promise<Actor> {
  const { subject, issuer, scopes, expiresAtMs } = caller;
  const organization = caller.organization?.id;
  if (issuer !== undefined) {
    const may = { scopes, allowedCidrs: [], expiresAtMs };
    return { kind: 'token', by: `${issuer}:${subject}`, requestId, organization, may };
  }
  const key = await store.keys.get(subject);
  // The caller may come from a cache that does not know of the revocation yet.
  if (key === undefined || key.revokedAtMs !== undefined) throw new GatewayError('api_key_revoked');
  const may = {
    scopes: new Set(key.scopes),
    allowedCidrs: key.allowedCidrs,
    expiresAtMs: key.expiresAtMs ?? Number.POSITIVE_INFINITY,
  };
  return { kind: 'key', by: subject, requestId, organization, may };
}
