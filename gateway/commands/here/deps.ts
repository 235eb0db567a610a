// Shared code of the actions on the stores of this machine: the actor, which has all rights, the stores, and the sentences of refusals.

import { randomBytes } from 'node:crypto';
import type { Actor } from '../../administration/actor.ts';
import type { PartOfList } from '../../administration/part.ts';
import type { KeyStore } from '../../auth/store/key-store.ts';
import { type ErrorCode, GatewayError } from '../../catalogue/errors.ts';
import type { Configuration } from '../../configuration.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import { closest } from '../../shared/mistakes.ts';
import type { MachineContext } from '../context.ts';

export function actorOf({ actor: by }: MachineContext): Actor {
  return { kind: 'command', by };
}

/** Reads the configuration, to check names. A contract that breaks its published version is not a mistake here. */
export function knownHere(context: MachineContext): Promise<Configuration> {
  return context.configuration('compare');
}

/** @param purpose as of `keyStore` */
export async function actionDepsOf(context: MachineContext, purpose?: 'begin') {
  const { store, digestOf } = await context.keyStore(purpose);
  return { store, digestOf, randomBytes, now: context.now, configuration: () => knownHere(context) };
}

type Sentences = Partial<Record<ErrorCode, () => Awaitable<string>>>;

/** Awaits an action. If it is refused, ends the command with the sentence for the refusal. */
export async function orFail<T>({ fail }: MachineContext, action: Promise<T>, sentences: Sentences): Promise<T> {
  try {
    return await action;
  } catch (thrown) {
    const sentenceOf = thrown instanceof GatewayError ? sentences[thrown.code] : undefined;
    if (sentenceOf === undefined) throw thrown;
    return fail(await sentenceOf());
  }
}

/** The largest number of records in a part of a list. */
export const PART_SIZE = 1000;

/** All parts of a list, from the record behind `after` on. */
export async function* partsOf<Item>(
  partBehind: (after: string | undefined) => Promise<PartOfList<Item>>,
  after: string | undefined,
): AsyncGenerator<readonly Item[]> {
  let behind = after;
  do {
    const { items, last } = await partBehind(behind);
    yield items;
    behind = last;
  } while (behind !== undefined);
}

/** The number of organizations that are compared with a misspelt id. It is bounded, because a store may contain a million. */
const SEARCHED_MAX = 1000;
/** Edits of a misspelt id. */
const EDITS_MAX = 2;

/** Returns the sentence about a missing organization. It suggests the id that was probably meant. */
export async function noOrganization({ organizations }: Pick<KeyStore, 'organizations'>, id: string): Promise<string> {
  const known = await organizations.list({ limit: SEARCHED_MAX });
  const likely = closest(
    id,
    known.map((one) => one.id),
    EDITS_MAX,
  );
  return `There is no organization ${id}.${likely === undefined ? '' : ` Did you mean "${likely}"?`}`;
}
