// The path that a request without an operation may have meant.

import type { DecisionRecord } from '../../explain/record.ts';
import { closest } from '../../shared/mistakes.ts';

/** Edits of a misspelt path. */
const EDITS_MAX = 2;

/** Returns the nearest route with as many parts; undefined if the request has an operation, or none is near. */
export function nearRoute({ code, path }: DecisionRecord, routes: Iterable<string>): string | undefined {
  if (code !== 'route_not_found' || typeof path !== 'string') return undefined;
  const parts = path.split('/');
  // Any value fits where a route has a parameter.
  const filled = (route: string) =>
    route
      .split('/')
      .map((part, index) => (part.startsWith('{') ? parts[index] : part))
      .join('/');
  const known = new Map(
    [...routes].filter((route) => route.split('/').length === parts.length).map((route) => [filled(route), route]),
  );
  return known.get(closest(path, [...known.keys()], EDITS_MAX) ?? '');
}
