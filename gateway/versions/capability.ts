// The capability `versions`: the error codes of ended and unknown versions.

import type { Capability } from '../catalogue/capability.ts';
import { INVALID_REQUEST } from '../catalogue/catalogue-entry.ts';

export const VERSIONS = {
  codes: {
    version_unknown: {
      ...INVALID_REQUEST,
      needs: 'versions',
      status: 404,
      message: 'There is no such API version; supported_versions lists those there are.',
      meaning: 'The path begins with a version that never existed; `supported_versions` lists those that do.',
      remedy: 'Use one of the versions in `supported_versions`.',
    },
    version_sunset: {
      ...INVALID_REQUEST,
      needs: 'sunset',
      status: 410,
      message: 'This version or operation has ended. The Link header names what follows it, and how to move on.',
      meaning:
        'The version or the operation has come to its announced end (`sunset`); `successor` and `Link` tell what follows it.',
      remedy: 'Move to what `successor` names; the `Link` header says how. See [versioning](/docs/guides/versioning).',
      example: { sunset: '2028-02-17', successor: 'v2' },
    },
  },
} as const satisfies Capability;
