// Defects of the bound on the keys of an organization.

import { of } from './mutation.ts';

const KEYS = 'auth/store/redis/keys.ts';

export const BOUND = of('bound', [
  ['one key more than the bound', KEYS, 'tonumber(usable_max) - added', 'tonumber(usable_max) - added + 1'],
  [
    'during its overlap a rotated key does not count',
    KEYS,
    'tonumber(ARGV[2]) and 2 or 1',
    'tonumber(ARGV[2]) and 1 or 1',
  ],
  ['a rotation of the only key is not bound', KEYS, '- added\n  if room < 0 then return false end', '- added'],
  ['revoked keys count', KEYS, 'if id ~= replaced and not revocations[number] and', 'if id ~= replaced and'],
  [
    'keys that have ended count',
    KEYS,
    '(not ends[number] or tonumber(ends[number]) > now) then\n        room',
    'true then\n        room',
  ],
]);
