// Organizations in the Redis key store.

import type { Organization } from '../../../exchange/caller.ts';
import { authorNameOf, changeKindOf, detailsBy, ofChangedOrganization, ofNewOrganization } from '../change-details.ts';
import type { Author, OrganizationRecords } from '../key-store.ts';
import {
  allOf,
  inRedisPages,
  ORGANIZATION_ARGUMENTS,
  ORGANIZATION_FUNCTIONS,
  organizationArguments,
  organizationsOf,
  SUSPENDED,
} from './columns.ts';
import { CONDITION_FUNCTIONS, conditionArguments, untilUnchanged, withinConditions } from './conditions.ts';
import type { StoreConnections } from './key-store-connection.ts';
import { toStoreScript } from './key-store-script.ts';

const CREATE = toStoreScript(`${ORGANIZATION_FUNCTIONS}${CONDITION_FUNCTIONS}
local by, details, at = ARGV[3], ARGV[4], 5
local failed = failure(at + ${ORGANIZATION_ARGUMENTS})
if failed then return failed end
if organization_exists(ARGV[at]) then return 0 end
insert_organizations({ at })
write_change(by, 'organization.created', ARGV[at], '', details)
return 1
`);

const GET = toStoreScript(`${ORGANIZATION_FUNCTIONS}
return columns_of({ ARGV[3] }, ORGANIZATION_COLUMNS)
`);

const PAGE = toStoreScript(`${ORGANIZATION_FUNCTIONS}
local first, last = ARGV[3], ARGV[4]
return columns_of(call('LRANGE', base .. 'organization_order', first, last), ORGANIZATION_COLUMNS)
`);

/** Reads only the ids, because this process sorts them. */
const IDS = toStoreScript(`
return call('LRANGE', base .. 'organization_order', ARGV[3], ARGV[4])
`);

const GET_SOME = toStoreScript(`${ORGANIZATION_FUNCTIONS}
local ids = {}
for index = 3, #ARGV do ids[#ids + 1] = ARGV[index] end
return columns_of(ids, ORGANIZATION_COLUMNS)
`);
const SOME = 500;

/**
 * Writes a change of an organization, on the condition that the organization is as it was read. Writes nothing if there are no details,
 * because then nothing changes.
 */
const CHANGE = toStoreScript(`${ORGANIZATION_FUNCTIONS}${CONDITION_FUNCTIONS}
local by, kind, details, at = ARGV[3], ARGV[4], ARGV[5], 6
local failed = failure(at + ${ORGANIZATION_ARGUMENTS})
if failed then return failed end
local id = ARGV[at]
if details ~= '' then
  call('HSET', base .. 'organizations', id, ARGV[at + 1])
  call('HSET', base .. 'tiers', id, ARGV[at + 2])
  write_change(by, kind, id, '', details)
end
return columns_of({ id }, ORGANIZATION_COLUMNS)
`);

const SUSPEND = toStoreScript(`${ORGANIZATION_FUNCTIONS}${CONDITION_FUNCTIONS}
local id, by, details = ARGV[3], ARGV[4], ARGV[5]
local failed = failure(6)
if failed then return failed end
if organization_exists(id) and call('HSETNX', base .. 'suspensions', id, '${SUSPENDED}') == 1 then
  write_change(by, 'organization.suspended', id, '', details)
end
return columns_of({ id }, ORGANIZATION_COLUMNS)
`);

const RESUME = toStoreScript(`${ORGANIZATION_FUNCTIONS}${CONDITION_FUNCTIONS}
local id, by, details = ARGV[3], ARGV[4], ARGV[5]
local failed = failure(6)
if failed then return failed end
if call('HDEL', base .. 'suspensions', id) == 1 then write_change(by, 'organization.resumed', id, '', details) end
return columns_of({ id }, ORGANIZATION_COLUMNS)
`);

const stateDetails = (author: Author, before: string, after: string) =>
  JSON.stringify(detailsBy(author, { before: { state: before }, after: { state: after } }));

export function createRedisOrganizations({ serving, patient }: StoreConnections): OrganizationRecords {
  const scan = () => inRedisPages((first, last) => patient(PAGE, [first, last]), organizationsOf);

  async function* inOrder(after = '', most?: number): AsyncGenerator<readonly Organization[]> {
    const ids = await allOf(inRedisPages((first, last) => patient(IDS, [first, last]), textsOf));
    const wanted = ids
      .filter((id) => id > after)
      .sort()
      .slice(0, most);
    for (let first = 0; first < wanted.length; first += SOME)
      yield organizationsOf(await patient(GET_SOME, wanted.slice(first, first + SOME)));
  }

  async function getPatiently(id: string): Promise<Organization | undefined> {
    return organizationsOf(await patient(GET, [id]))[0];
  }

  return {
    async create(organization, author, conditions = {}) {
      const details = JSON.stringify(detailsBy(author, ofNewOrganization(organization)));
      const record = [...organizationArguments(organization), ...conditionArguments(conditions)];
      return withinConditions(await patient(CREATE, [authorNameOf(author), details, ...record])) === 1;
    },
    async get(id) {
      return organizationsOf(await serving(GET, [id]))[0];
    },
    list: ({ after, limit } = {}) => allOf(inOrder(after, limit)),
    scan,
    inOrder,
    async change(id, patch, author, conditions = {}) {
      const reply = await untilUnchanged(id, conditions, async () => {
        const before = await getPatiently(id);
        if (before === undefined) return [];
        const after = { ...before, ...patch };
        const differences = ofChangedOrganization(before, after);
        const details = differences === undefined ? '' : JSON.stringify(detailsBy(author, differences));
        const organizations = [...(conditions.organizations ?? []), before];
        return patient(CHANGE, [
          ...[authorNameOf(author), changeKindOf(patch), details, ...organizationArguments(after)],
          ...conditionArguments({ ...conditions, organizations }),
        ]);
      });
      return organizationsOf(reply)[0];
    },
    async suspend(id, author, conditions = {}) {
      const details = stateDetails(author, 'active', 'suspended');
      const reply = await patient(SUSPEND, [id, authorNameOf(author), details, ...conditionArguments(conditions)]);
      return organizationsOf(withinConditions(reply))[0];
    },
    async resume(id, author, conditions = {}) {
      const details = stateDetails(author, 'suspended', 'active');
      const reply = await patient(RESUME, [id, authorNameOf(author), details, ...conditionArguments(conditions)]);
      return organizationsOf(withinConditions(reply))[0];
    },
  };
}

function textsOf(reply: unknown): readonly string[] {
  return reply as readonly string[];
}
