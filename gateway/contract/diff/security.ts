// Compares security requirements: a credential that was accepted must stay accepted.

import type { Alternative, OperationPair } from './described.ts';

export function compareSecurity({ old, new: fresh, tell, at }: OperationPair): void {
  const place = { place: [...at.place, 'security'], where: '' };
  if (fresh.security.length === 0) {
    if (old.security.length > 0) tell('security-removed', 'additive', place, 'credentials are no longer required');
    return;
  }
  if (old.security.length === 0) {
    tell('security-added', 'breaking', place, `credentials are required now (${textOf(fresh.security)})`);
    return;
  }
  for (const alternative of old.security) {
    if (fresh.security.some((other) => isLetInBy(alternative, other))) continue;
    const near = fresh.security.find((other) => isLetInBy(withoutScopes(alternative), withoutScopes(other)));
    if (near === undefined) {
      tell('security-alternative-removed', 'breaking', place, `${textOf([alternative])} is no longer accepted`);
      continue;
    }
    const scopes = scopesOf(near).filter((scope) => !scopesOf(alternative).includes(scope));
    tell('security-scope-added', 'breaking', place, `the scope ${scopes.join(' and ')} is required now`);
  }
  for (const alternative of fresh.security) {
    if (old.security.some((other) => isLetInBy(alternative, other))) continue;
    tell('security-loosened', 'additive', place, `${textOf([alternative])} is accepted now`);
  }
}

/** Returns whether a credential that satisfies `one` also satisfies `other`. */
function isLetInBy(one: Alternative, other: Alternative): boolean {
  return other.every(({ scheme, scopes }) => {
    const held = one.find((requirement) => requirement.scheme === scheme);
    return held !== undefined && scopes.every((scope) => held.scopes.includes(scope));
  });
}

function withoutScopes(alternative: Alternative): Alternative {
  return alternative.map(({ scheme }) => ({ scheme, scopes: [] }));
}

function scopesOf(alternative: Alternative): string[] {
  return alternative.flatMap(({ scopes }) => scopes);
}

function textOf(alternatives: readonly Alternative[]): string {
  const one = (alternative: Alternative) =>
    alternative.map(({ scheme, scopes }) => [scheme, ...scopes].join(' ')).join(' and ');
  return alternatives.map(one).join(' or ');
}
