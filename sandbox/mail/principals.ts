// `/api/principal` and `/api/principal/{name}`: the action of each request, and its permission.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Account } from './accounts.ts';
import { data, forbidden, invalidParameters, type MailAnswer, noSuchResource, notFound } from './answers.ts';
import { createApply } from './apply.ts';
import { readChanges } from './changes.ts';
import { createCreate } from './create.ts';
import { isType, type Principal } from './fields.ts';
import { createPrincipalList, matching } from './list.ts';
import { type Act, permissionFor } from './permissions.ts';
import { lastOf } from './query.ts';
import { shownPrincipal } from './show.ts';
import type { MailStore } from './store.ts';

export interface ApiRequest {
  readonly caller: Account;
  readonly method: string;
  /** The path after `/api`, as it was sent. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  /** Undefined when it was too long. */
  readonly body: Buffer | undefined;
}

export interface Principals {
  /** @throws Refused */
  answer(request: ApiRequest): Promise<MailAnswer>;
  /** Resolves when deletions in the background are done. */
  settled(): Promise<void>;
}

export interface PrincipalsOptions {
  readonly principalsMax: number;
  pause(): Promise<void>;
}

export function createPrincipals(store: MailStore, { principalsMax, pause }: PrincipalsOptions): Principals {
  const list = createPrincipalList(store, pause);
  const create = createCreate(store, principalsMax);
  const apply = createApply(store);
  let background = Promise.resolve();

  /** Exists and may be acted on, in this order, and both before a body is looked at. */
  function allowed({ caller }: ApiRequest, name: string, act: Act): Principal {
    const principal = store.find(name);
    if (!principal) throw notFound(name);
    if (!caller.permissions.has(permissionFor(principal.type, act))) throw forbidden();
    return principal;
  }

  /** All matches are gone some time after the answer. */
  function removeMatching({ caller, query }: ApiRequest): MailAnswer {
    const type = lastOf(query, 'type') ?? '';
    if (!isType(type)) throw invalidParameters('The parameter type is missing or invalid.');
    if (lastOf(query, 'confirm') !== 'true') throw invalidParameters('The parameter confirm has to be true.');
    if (!caller.permissions.has(permissionFor(type, 'delete'))) throw forbidden();
    const found = matching(store, [type], lastOf(query, 'filter') ?? '');
    background = background
      .then(() => nextTurn())
      .then(() => {
        for (const { id } of found) store.remove(id);
      });
    return data(found.length > 0);
  }

  async function onCollection(request: ApiRequest): Promise<MailAnswer> {
    const { method, caller, body, query } = request;
    if (method === 'GET') return list(caller, query);
    if (method === 'POST') return create(caller, body);
    if (method === 'DELETE') return removeMatching(request);
    throw noSuchResource();
  }

  function onNamed(request: ApiRequest, name: string): MailAnswer {
    switch (request.method) {
      case 'GET':
        return data(shownPrincipal(store, allowed(request, name, 'get')));
      case 'PATCH': {
        const principal = allowed(request, name, 'update');
        apply(request.caller, principal, readChanges(request.body));
        return data(null);
      }
      case 'DELETE':
        store.remove(allowed(request, name, 'delete').id);
        return data(null);
      default:
        if (!store.find(name)) throw notFound(name);
        throw noSuchResource();
    }
  }

  return {
    async answer(request) {
      const [, name] = request.segments;
      if (name === undefined) return onCollection(request);
      if (name === 'deploy' && request.method === 'POST') return create(request.caller, request.body);
      // Everything after the name is ignored.
      return onNamed(request, decode(name));
    },
    settled: () => background,
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
