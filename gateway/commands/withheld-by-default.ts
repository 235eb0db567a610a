// Finds headers and cookies that contracts declare, but that do not cross with the settings of their entry, for `gateway check`. Pure.

import type { Configuration } from '../configuration.ts';
import { declaredHeaders } from '../contract/operations/crossing.ts';
import type { ContractOperation } from '../contract/operations/operations.ts';
import { entryOfUpstream } from '../shared/contracts/upstreams.ts';
import { credentialFieldsOf, isOwnedRequestHeader, isSpellingOf } from '../shared/http/owned-headers.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { firstNames } from '../shared/text.ts';

/** Operations that a warning names. */
const NAMED_MAX = 3;
/** Headers that the service gets from the gateway itself, so that nothing is lost if the client's value is withheld. */
const ALWAYS_SENT = new Set(['host', 'content-length', 'forwarded', 'via', 'traceparent', 'x-request-id']);

/** Returns warnings at the entries of upstreams.yaml that need a setting. */
export function withheldByDefault({ config, contracts }: Configuration): Mistake[] {
  const byUpstream = Map.groupBy(contracts.operations, ({ operation }) => entryOfUpstream(operation.upstream));
  return Object.keys(config.upstreams).flatMap((upstream) => {
    const warn = (reason: string, remedy: string) =>
      config.sources.upstreams.mistakeAtKey(['upstreams', upstream], reason, remedy);
    const entries = byUpstream.get(upstream) ?? [];
    const { credential } = config.upstreams[upstream] ?? {};
    const headers = credential && credentialFieldsOf(credential);
    return [
      ...groupNames(entries, ({ operation }) => operation.cookies?.withheld ?? []).map(([cookie, named]) =>
        warn(
          `the cookie parameter "${cookie}" of ${named} does not reach the service.`,
          `Add cookies: [${cookie}] to the entry.`,
        ),
      ),
      ...groupNames(entries, ownedParameters).map(([header, named]) =>
        warn(
          `the header parameter "${header}" of ${named} does not reach the service, because only the gateway sends this header.`,
          'Take it out of the contract, or give it another name.',
        ),
      ),
      ...groupNames(entries, (entry) => credentialParameters(entry, headers)).map(([name, named]) =>
        warn(
          `the header parameter "${name}" of ${named} does not reach the service, because the gateway sends its credential there.`,
          'Take it out of the contract: clients need not know it.',
        ),
      ),
      ...groupNames(entries, cookieHeaders).map(([, named]) =>
        warn(
          `the contract declares Set-Cookie for answers of ${named}, and the entry names no cookie that crosses.`,
          'Add cookies: [<name>] to the entry.',
        ),
      ),
    ];
  });
}

/** Returns each name with the operations that declare it, as text. */
function groupNames(
  entries: readonly ContractOperation[],
  namesOf: (entry: ContractOperation) => readonly string[],
): (readonly [string, string])[] {
  const ids = new Map<string, string[]>();
  for (const entry of entries)
    for (const name of namesOf(entry)) ids.set(name, [...(ids.get(name) ?? []), entry.operation.id]);
  return [...ids].map(([name, all]) => [name, firstNames(all, NAMED_MAX)]);
}

function ownedParameters({ operation, parameters }: ContractOperation): string[] {
  const owned = operation.requestHeaders.filter((name) => isOwnedRequestHeader(name) && !ALWAYS_SENT.has(name));
  return asWritten(owned, parameters);
}

function credentialParameters(
  { operation, parameters }: ContractOperation,
  headers: readonly string[] | undefined,
): string[] {
  const withheld = operation.requestHeaders.filter(
    (name) => isSpellingOf(name, headers) && !isOwnedRequestHeader(name),
  );
  return asWritten(withheld, parameters);
}

function asWritten(headers: readonly string[], parameters: ContractOperation['parameters']): string[] {
  const written = parameters.map(({ value }) => String((value as { name?: unknown }).name));
  return headers.map((name) => written.find((one) => one.toLowerCase() === name) ?? name);
}

function cookieHeaders({ operation, document, located }: ContractOperation): string[] {
  const crosses = operation.cookies !== undefined && operation.cookies.names.size > 0;
  return !crosses && declaredHeaders(document.root, located).includes('set-cookie') ? ['set-cookie'] : [];
}
