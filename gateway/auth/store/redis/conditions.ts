// The conditions of a change in the Redis key store, checked inside its script.

import { ConditionFailed, type Conditions } from '../key-store.ts';
import { keyArguments, organizationArguments } from './columns.ts';

/**
 * A Lua function: `failure(at)` reads the conditions from the arguments, beginning at this index. It returns the reply for a condition that
 * does not hold; nil if all conditions hold. Records are compared as texts, because one function writes all texts.
 */
export const CONDITION_FUNCTIONS = `
local function is_now(column, id, value)
  return (call('HGET', base .. column, id) or '') == value
end

local function failure(at)
  local keys_end = at + 1 + ARGV[at] * 5
  for key = at + 1, keys_end - 1, 5 do
    local id = ARGV[key]
    for number, column in ipairs({ 'keys', 'ends', 'revocations', 'successors' }) do
      if not is_now(column, id, ARGV[key + number]) then return { 'failed', 'keys', id } end
    end
  end
  for organization = keys_end, #ARGV, 4 do
    local id = ARGV[organization]
    for number, column in ipairs({ 'organizations', 'tiers', 'suspensions' }) do
      if not is_now(column, id, ARGV[organization + number]) then return { 'failed', 'organizations', id } end
    end
  end
end
`;

/** The last arguments of a script that checks conditions. */
export function conditionArguments({ keys = [], organizations = [] }: Conditions): (string | number)[] {
  const columnsOf = (key: (typeof keys)[number]) => {
    const [id = '', , , record = '', ends = '', revocation = '', successor = ''] = keyArguments(key);
    return [id, record, ends, revocation, successor];
  };
  return [keys.length, ...keys.flatMap(columnsOf), ...organizations.flatMap(organizationArguments)];
}

const ATTEMPTS_MAX = 100;

/** Returns the reply of a script. Throws ConditionFailed if the reply says so. */
export function withinConditions(reply: unknown): unknown {
  const [outcome, condition] = Array.isArray(reply) ? reply : [];
  if (outcome === 'failed') throw new ConditionFailed(condition);
  return reply;
}

/**
 * Repeats an attempt to change a record until the record has not changed between its read and the write. Returns the reply of the last
 * attempt. If the caller has made this record a condition, the first attempt decides. Throws ConditionFailed.
 *
 * @param attempt reads the record, then runs the script that writes the change if the record is as it was read. Resolves with the reply
 */
export async function untilUnchanged(id: string, conditions: Conditions, attempt: () => Promise<unknown>) {
  const isCondition = [...(conditions.keys ?? []), ...(conditions.organizations ?? [])].some((one) => one.id === id);
  for (let attempts = 1; ; attempts += 1) {
    const reply = await attempt();
    const changed = Array.isArray(reply) && reply[0] === 'failed' && reply[2] === id;
    if (!changed || isCondition) return withinConditions(reply);
    if (attempts === ATTEMPTS_MAX) throw new Error(`${id} is changed by others all the time.`);
  }
}
