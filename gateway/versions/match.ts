// What becomes of a match where something is deprecated: its headers go onto every answer, and what has ended is refused for good.
// Throws version_sunset.

import { GatewayError } from '../errors.ts';
import type { Admitted, Matched } from '../exchange.ts';
import type { Lives, VersionEnd } from './life.ts';

type Matches = (admitted: Admitted) => Matched;

/** The same function where nothing is deprecated: then there is nothing to be looked up. */
export function matchAlive(match: Matches, { ofOperations, ofVersions }: Lives, now: () => number): Matches {
  if (ofOperations.size === 0 && ofVersions.size === 0) return match;

  function found(matched: Matched): Matched {
    const life = ofOperations.get(matched.operation);
    if (life === undefined) return matched;
    matched.carried.push(...life.headers);
    if (now() >= life.sunsetMs) throw ended(life);
    return matched;
  }

  /** Whatever was asked for below a version that has ended: it is gone, even if nobody knows its path any more. */
  function endOf({ segments, carried }: Admitted): GatewayError | undefined {
    const end = ofVersions.get(segments[0] ?? '');
    if (end === undefined || now() < end.sunsetMs) return undefined;
    carried.push(...end.headers);
    return ended(end);
  }

  return function matchWhatLives(admitted) {
    let matched: Matched;
    try {
      matched = match(admitted);
    } catch (error) {
      throw endOf(admitted) ?? error;
    }
    return found(matched);
  };
}

function ended({
  sunset,
  successor,
}: Pick<VersionEnd, 'successor'> & { readonly sunset: string | undefined }): GatewayError {
  return new GatewayError('version_sunset', { fields: { sunset, ...(successor === undefined ? {} : { successor }) } });
}
