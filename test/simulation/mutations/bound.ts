// Defects of the bound on the keys of an organization.

import { of } from './mutation.ts';

const WORKING = 'auth/store/redis/working-keys.ts';

export const BOUND = of('bound', [
  ['one key more than the bound', WORKING, 'tonumber(working_max) - added', 'tonumber(working_max) - added + 1'],
  [
    'during its overlap a rotated key does not count',
    'auth/store/redis/keys.ts',
    'tonumber(ARGV[2]) and 2 or 1',
    'tonumber(ARGV[2]) and 1 or 1',
  ],
  ['a rotation of the only key is not bound', WORKING, '- added\n  if room < 0 then return false end', '- added'],
  ['revoked keys count', WORKING, 'not revocations[number] and (', '('],
  ['keys that have ended count', WORKING, '(not ends[number] or tonumber(ends[number]) > now)', 'true'],
]);
