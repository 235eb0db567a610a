// Parses the actions of operators in the console, in the form in which the page sends them, and workers pass them on.

type ActionName =
  | 'suspend-organization'
  | 'resume-organization'
  | 'change-tier'
  | 'revoke-key'
  | 'reset-limits'
  | 'retry-upstream'
  | 'silence-alerts';

export interface ConsoleAction {
  readonly action: ActionName;
  /** Id of the organization or the key, name of the upstream, or pattern of the ids of causes. */
  readonly target: string;
  /** Whether the action is only previewed. */
  readonly dryRun: boolean;
  /** The state of the record that the operator saw. The action is refused if the record has changed since. */
  readonly ifMatch?: string;
  /** Member of `change-tier`. */
  readonly tier?: string;
  /** Member of `revoke-key` and `silence-alerts`: the reason for the audit log. */
  readonly reason?: string;
  /** Member of `revoke-key`: whether the last usable key of an organization is revoked, too. */
  readonly allowLast?: boolean;
  /** Member of `silence-alerts`: the length of the silence; 0 ends it. */
  readonly seconds?: number;
}

/** The answer to the page. */
export interface ActionAnswer {
  readonly status: number;
  readonly body: object;
}

interface Field {
  /** Name in the body of the request. */
  readonly name: string;
  isValid(value: unknown): boolean;
  /** The actions that have it; absent for all. */
  readonly of?: readonly ActionName[];
}

const ACTION_NAMES: readonly string[] = [
  'suspend-organization',
  'resume-organization',
  'change-tier',
  'revoke-key',
  'reset-limits',
  'retry-upstream',
  'silence-alerts',
] satisfies readonly ActionName[];

const isFlag = (value: unknown) => typeof value === 'boolean';
/** 0, or from a minute to thirty days. */
const isSilenceSeconds = (value: unknown) =>
  value === 0 || (Number.isSafeInteger(value) && Number(value) >= 60 && Number(value) <= 2_592_000);
/** Returns a check for one line of visible text. */
const isLine = (lengthMin: number, lengthMax: number) => (value: unknown) =>
  typeof value === 'string' &&
  value.length >= lengthMin &&
  value.length <= lengthMax &&
  !/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u.test(value);

const ACTION_FIELDS: Readonly<Record<Exclude<keyof ConsoleAction, 'action'>, Field>> = {
  target: { name: 'target', isValid: isLine(1, 200) },
  dryRun: { name: 'dry_run', isValid: isFlag },
  ifMatch: { name: 'if_match', isValid: isLine(1, 200) },
  tier: { name: 'tier', isValid: isLine(1, 64), of: ['change-tier'] },
  reason: { name: 'reason', isValid: isLine(0, 200), of: ['revoke-key', 'silence-alerts'] },
  allowLast: { name: 'allow_last', isValid: isFlag, of: ['revoke-key'] },
  seconds: { name: 'seconds', isValid: isSilenceSeconds, of: ['silence-alerts'] },
};

/** The members that an action needs, in addition to the members that all actions need. */
const REQUIRED_FIELDS: Readonly<Partial<Record<ActionName, readonly (keyof typeof ACTION_FIELDS)[]>>> = {
  'change-tier': ['tier'],
  'silence-alerts': ['seconds'],
};

/**
 * Parses the body of a request for an action. Returns a sentence if the body is wrong, and undefined for an unknown action. Unknown members
 * are refused, because the action must not be carried out if `dry_run` is misspelled.
 */
export function actionOf(action: string, body: unknown): ConsoleAction | string | undefined {
  if (!isActionName(action)) return undefined;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body is not a JSON object.';
  const known = Object.entries(ACTION_FIELDS).filter(([, { of }]) => of?.includes(action) ?? true);
  const unknown = Object.keys(body).find((name) => !known.some(([, field]) => field.name === name));
  if (unknown !== undefined) return `The action has no member ${JSON.stringify(unknown.slice(0, 40))}.`;
  const members: Record<string, unknown> = { action };
  for (const [key, { name, isValid }] of known) {
    if (!Object.hasOwn(body, name)) continue;
    const value = (body as Record<string, unknown>)[name];
    if (!isValid(value)) return `The member ${name} is not as it should be.`;
    members[key] = value;
  }
  const wanted = ['target', 'dryRun', ...(REQUIRED_FIELDS[action] ?? [])];
  const missing = wanted.find((key) => members[key] === undefined);
  if (missing !== undefined)
    return `The member ${ACTION_FIELDS[missing as keyof typeof ACTION_FIELDS].name} is missing.`;
  return members as unknown as ConsoleAction;
}

function isActionName(name: string): name is ActionName {
  return ACTION_NAMES.includes(name);
}
