// Step after the match, which announces the deprecation of an operation on every answer, and refuses operations that have ended. Throws
// version_sunset.

import { GatewayError } from '../catalogue/errors.ts';
import type { Admitted, Matched } from '../exchange/exchange.ts';
import type { Deprecations, VersionEnd } from './deprecation.ts';

export interface Sunset {
  sunset(matched: Matched): void;
  /** Returns the refusal for a path of an ended version that is no longer in a contract; undefined for other paths. */
  endOfVersion(admitted: Admitted): GatewayError | undefined;
}

/** @param now epoch milliseconds */
export function createSunset({ ofOperations, ofVersions }: Deprecations, now: () => number): Sunset {
  return {
    sunset({ operation, commonHeaders }) {
      if (ofOperations.size === 0) return;
      const deprecation = ofOperations.get(operation);
      if (deprecation === undefined) return;
      commonHeaders.push(...deprecation.headers);
      if (now() >= deprecation.sunsetMs) throw ended(deprecation);
    },
    endOfVersion({ segments, commonHeaders }) {
      const end = ofVersions.get(segments[0] ?? '');
      if (end === undefined || now() < end.sunsetMs) return undefined;
      commonHeaders.push(...end.headers);
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
