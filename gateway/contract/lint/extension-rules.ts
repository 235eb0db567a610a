// The lint rule about the places of the gateway's own extensions.

import type { Oas3Rule } from '@redocly/openapi-core';

/** The node types that may have `x-gateway-*` members. Elsewhere such members would be ignored silently. */
const EXTENSION_CARRIERS = new Set(['Root', 'PathItem', 'Operation']);

export const extensionsHaveAMeaning: Oas3Rule = () => ({
  any(node, { type, report, location }) {
    if (typeof node !== 'object' || node === null) return;
    const isCarrier = EXTENSION_CARRIERS.has(type.name);
    for (const [name, value] of Object.entries(node)) {
      if (!name.startsWith('x-')) continue;
      const isOwn = name.startsWith('x-gateway-');
      const isAllowed = isCarrier || (name === 'x-gateway-path' && type.name === 'Parameter');
      const places = [...(isOwn && !isAllowed ? [[name]] : []), ...(isOwn ? [] : ownBelow(value, [name]))];
      for (const place of places)
        report({ message: `${place.at(-1)} has no meaning here`, location: location.child(place).key() });
    }
  },
});

/** Returns the places of `x-gateway-*` members inside the value of another extension, which the linter does not check. */
function ownBelow(value: unknown, place: readonly string[], seen = new Set<unknown>()): string[][] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name.startsWith('x-gateway-') ? [[...place, name]] : []),
    ...ownBelow(inner, [...place, name], seen),
  ]);
}
