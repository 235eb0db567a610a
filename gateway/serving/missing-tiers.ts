// Counts the organizations whose tier is missing in `limits.yaml`, for `/status` and the log. Such organizations get the limits of the
// strictest tier.

import type { KeyStore } from '../auth/store/key-store.ts';
import { type LimitRules, lacksTier, strictestTierOf } from '../limits/limit-rules.ts';
import type { Log } from '../observe/log/log.ts';
import { missingTierText } from '../shared/missing-tier.ts';

/** The delay of the first count. It reads all organizations, so it lets the first requests go first. */
const FIRST_MS = 1000;
/** The interval of checks while a tier is missing, because a command may move its organizations to another tier. */
const AGAIN_MS = 10_000;

type Rules = Pick<LimitRules, 'tiers' | 'organizations'>;

interface MissingTier {
  readonly tier: string;
  readonly organizations: number;
  /** The tier whose limits apply instead; undefined if there is none. */
  readonly in_place?: string;
}

interface MissingTiers {
  apply(next: Rules): void;
  status(): readonly MissingTier[];
  close(): void;
}

/** Opens the checks. Never rejects; a failure of the store is logged. */
export function openMissingTiers(
  first: Rules,
  { organizations }: Pick<KeyStore, 'organizations'>,
  { logger }: Pick<Log, 'logger'>,
): MissingTiers {
  let rules = first;
  let missing: readonly MissingTier[] = [];
  let isUnknown = false;
  /** A newer count makes an older one void. */
  let latest = 0;
  let timer = setTimeout(count, FIRST_MS).unref();

  async function count(): Promise<void> {
    latest += 1;
    const turn = latest;
    const found = await missingIn(rules, organizations).catch((error: Error) => error);
    if (turn !== latest) return;
    if (found instanceof Error) {
      if (!isUnknown)
        logger.warn({ reason: found.message }, 'it is unknown whether organizations are on missing tiers');
    } else {
      const known = new Set(missing.map(({ tier }) => tier));
      for (const { tier, organizations, in_place } of found)
        if (!known.has(tier)) logger.warn({ tier, organizations }, missingTierText(tier, in_place));
      missing = found;
    }
    isUnknown = found instanceof Error;
    if (isUnknown || missing.length > 0) timer = setTimeout(count, AGAIN_MS).unref();
  }

  return {
    apply(next) {
      const before = rules;
      rules = next;
      if (
        missing.length === 0 &&
        !isUnknown &&
        !lacks(before.tiers, next.tiers) &&
        !lacks(before.organizations, next.organizations)
      )
        return;
      clearTimeout(timer);
      void count();
    },
    status: () => missing,
    close() {
      latest += 1;
      clearTimeout(timer);
    },
  };
}

function lacks(before: object, after: object): boolean {
  return Object.keys(before).some((name) => !Object.hasOwn(after, name));
}

async function missingIn(rules: Rules, { scan }: KeyStore['organizations']): Promise<MissingTier[]> {
  const counts = new Map<string, number>();
  for await (const page of scan())
    for (const { id, tier } of page) if (lacksTier(rules, id, tier)) counts.set(tier, (counts.get(tier) ?? 0) + 1);
  const inPlace = strictestTierOf(rules.tiers)?.name;
  const more = inPlace === undefined ? {} : { in_place: inPlace };
  return [...counts].sort().map(([tier, organizations]) => ({ tier, organizations, ...more }));
}
