// Step after the match: announces on every answer that an operation is deprecated, and refuses what has ended. Throws version_sunset.

import { GatewayError } from '../errors.ts';
import type { Admitted, Matched } from '../exchange.ts';
import type { Deprecations, VersionEnd } from './deprecation.ts';

export interface Sunset {
  sunset(matched: Matched): void;
  /** The refusal of a path that no contract has any more, because its version has ended; undefined: the version has not. */
  endOfVersion(admitted: Admitted): GatewayError | undefined;
}

/** @param now epoch milliseconds */
export function createSunset({ ofOperations, ofVersions }: Deprecations, now: () => number): Sunset {
  return {
    sunset({ operation, carried }) {
      if (ofOperations.size === 0) return;
      const life = ofOperations.get(operation);
      if (life === undefined) return;
      carried.push(...life.headers);
      if (now() >= life.sunsetMs) throw ended(life);
    },
    endOfVersion({ segments, carried }) {
      const end = ofVersions.get(segments[0] ?? '');
      if (end === undefined || now() < end.sunsetMs) return undefined;
      carried.push(...end.headers);
      return ended(end);
    },
  };
}

function ended({
  sunset,
  successor,
}: Pick<VersionEnd, 'successor'> & { readonly sunset: string | undefined }): GatewayError {
  return new GatewayError('version_sunset', { fields: { sunset, ...(successor === undefined ? {} : { successor }) } });
}
