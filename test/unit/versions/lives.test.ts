// Faults in the dates and names of versions, each reported with its line and remedy.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gatewayFile } from '../../../gateway/config/gateway/gateway-file.ts';
import { checkDeprecations } from '../../../gateway/config/gateway/versions.ts';
import { checkShape } from '../../../gateway/config/issues.ts';
import { type Mistake, toSentence } from '../../../gateway/shared/mistakes.ts';
import { readSource } from '../../../gateway/shared/yaml-source.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const served = [
  {
    id: 'listJobs',
    qualifiedId: 'jobs.listJobs',
    entry: 'jobs',
    upstream: 'jobs',
    method: 'GET',
    path: '/jobs',
    version: 'v1',
  },
  {
    id: 'listJobs2',
    qualifiedId: 'jobs.listJobs2',
    entry: 'jobs',
    upstream: 'jobs',
    method: 'GET',
    path: '/jobs',
    version: 'v2',
  },
  {
    id: 'findJobs',
    qualifiedId: 'jobs.findJobs',
    entry: 'jobs',
    upstream: 'jobs',
    method: 'GET',
    path: '/jobs',
    version: 'v1',
  },
];

function mistakesOf(text: string): string[] {
  const directory = temporaryDirectory();
  const file = join(directory, 'gateway.yaml');
  writeFileSync(file, text);
  const mistakes: Mistake[] = [];
  const source = readSource(file, mistakes);
  const read = checkShape(source, gatewayFile, mistakes);
  if (read) checkDeprecations(read, served, source, mistakes);
  rmSync(directory, { recursive: true });
  return mistakes.map(toSentence).map((sentence) => sentence.replace(/^.*gateway\.yaml:/, ''));
}

const fine: Readonly<Record<string, string>> = {
  'nothing at all': 'logLevel: info\n',
  'a version that ends 12 months after the next one, to the day':
    'versions:\n  v1: { deprecated: 2025-03-01, sunset: 2026-03-01, successor: v2 }\n  v2: { released: "2025-03-01" }\n',
  'a leap day':
    'versions:\n  v1: { deprecated: 2024-02-29, sunset: 2025-03-01, successor: v2 }\n  v2: { released: 2024-02-29 }\n',
  'an operation': 'operations:\n  listJobs: { deprecated: 2027-01-01, sunset: 2028-01-01, successor: findJobs }\n',
  'a deprecation without an end': 'versions:\n  v1: { deprecated: 2027-01-01, guide: "https://docs.example.com/v2" }\n',
  'a version that has ended, without contracts':
    'versions:\n  v2: { released: 2020-01-01 }\n  v9: { deprecated: 2021-01-01, sunset: 2022-01-01, successor: v2 }\n',
};

const wrong: Readonly<Record<string, readonly [text: string, says: string]>> = {
  'a day that no calendar has': [
    'versions:\n  v1: { deprecated: 2027-02-30 }\n',
    '2:21: versions.v1.deprecated: "2027-02-30" is not possible here. It must be a day such as 2027-01-15.',
  ],
  'a moment in place of a day': [
    'versions:\n  v1: { deprecated: "2027-02-03T00:00:00Z" }\n',
    '2:21: versions.v1.deprecated: "2027-02-03T00:00:00Z" is not possible here. It must be a day such as 2027-01-15.',
  ],
  'a version that is none': [
    'versions:\n  first: { deprecated: 2027-02-03 }\n',
    '2:3: versions.first: "first" cannot be a name here. It must be a version such as v1.',
  ],
  'a guide that would break out of its header': [
    'versions:\n  v1: { guide: "https://docs.example.com/>x" }\n',
    '2:16: versions.v1.guide: "https://docs.example.com/>x" is not possible here. It must be an http:// or https:// address.',
  ],
  'a version without contracts': [
    'versions:\n  v4: { released: 2027-01-01 }\n',
    '2:3: versions.v4: no contract has a path below /v4. Did you mean "v1"? Without contracts, only a version that has ended (sunset) can stand here.',
  ],
  'an end without deprecation': [
    'versions:\n  v1: { sunset: 2028-01-01, successor: v2 }\n  v2: { released: 2025-01-01 }\n',
    '2:17: versions.v1.sunset: it ends without having been deprecated. Add "deprecated: …" with the day from which clients should no longer use it.',
  ],
  'an end before the deprecation': [
    'versions:\n  v1: { deprecated: 2028-01-02, sunset: 2028-01-01, successor: v2 }\n  v2: { released: 2025-01-01 }\n',
    '2:41: versions.v1.sunset: it ends before it is deprecated (2028-01-02). A sunset is never earlier than the deprecation.',
  ],
  'a deprecation before the release': [
    'versions:\n  v1: { released: 2028-01-02, deprecated: 2028-01-01 }\n',
    '2:43: versions.v1.deprecated: it is deprecated before its release (2028-01-02). Correct one of the two dates.',
  ],
  'an unknown successor': [
    'versions:\n  v1: { deprecated: 2028-01-02, successor: v5 }\n',
    '2:44: versions.v1.successor: there is no version "v5". Did you mean "v1"?',
  ],
  'itself as successor': [
    'versions:\n  v1: { deprecated: 2028-01-02, successor: v1 }\n',
    '2:44: versions.v1.successor: the version names itself as its successor. Name the version that replaces it.',
  ],
  'an end without a successor': [
    'versions:\n  v1: { deprecated: 2028-01-02, sunset: 2029-01-02 }\n',
    '2:41: versions.v1.sunset: a version cannot end without a successor. Add "successor: …": a version ends at the earliest 12 months after the release of the next one.',
  ],
  'a successor without a known release': [
    'versions:\n  v1: { deprecated: 2028-01-02, sunset: 2029-01-02, successor: v2 }\n',
    '2:64: versions.v1.successor: the release date of its successor "v2" is missing. Add versions.v2.released.',
  ],
  'an end too soon after the successor': [
    'versions:\n  v1: { deprecated: 2028-01-02, sunset: 2029-01-01, successor: v2 }\n  v2: { released: 2028-01-02 }\n',
    '2:41: versions.v1.sunset: 2029-01-01 is earlier than 12 months after the release of "v2" (2028-01-02). The earliest day is 2029-01-02.',
  ],
  'an operation that does not exist': [
    'operations:\n  listJob: { deprecated: 2028-01-02 }\n',
    '2:3: operations.listJob: no contract has an operation "listJob". Did you mean "listJobs"?',
  ],
  'an operation that ends too soon': [
    'operations:\n  listJobs: { deprecated: 2028-01-02, sunset: 2028-12-31 }\n',
    '2:47: operations.listJobs.sunset: 2028-12-31 is earlier than 12 months after its deprecation (2028-01-02). The earliest day is 2029-01-02.',
  ],
  'an operation that ends too soon after the version of its successor': [
    'versions:\n  v2: { released: 2028-06-01 }\noperations:\n  listJobs: { deprecated: 2028-01-02, sunset: 2029-01-31, successor: listJobs2 }\n',
    '4:47: operations.listJobs.sunset: 2029-01-31 is earlier than 12 months after the release of its successor (2028-06-01). The earliest day is 2029-06-01.',
  ],
  'an operation followed by one that does not exist': [
    'operations:\n  listJobs: { deprecated: 2028-01-02, successor: listJobs3 }\n',
    '2:50: operations.listJobs.successor: there is no operation "listJobs3". Did you mean "listJobs2"?',
  ],
};

describe('the lives of versions and operations', () => {
  for (const [name, text] of Object.entries(fine)) it(`may have ${name}`, () => assert.deepEqual(mistakesOf(text), []));
  for (const [name, [text, says]] of Object.entries(wrong))
    it(`cannot have ${name}`, () => assert.deepEqual(mistakesOf(text), [says]));
});
