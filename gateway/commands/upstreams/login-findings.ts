// Says what to change when the service refuses the gateway at some operations. Pure.

import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { credentialToAdd } from '../../shared/contracts/upstreams.ts';
import { isRecord } from '../../shared/is-record.ts';
import { type Finding, fail } from '../finding.ts';
import type { BackendAnswer } from './backend.ts';
import { UNSENT_REMEDY } from './scheme-parts.ts';
import { credentialAt, credentialForAll, extendsSent, isSent, unmetRequirement } from './wanted-credential.ts';

/** Returns one finding per refused operation; only one if a single setting serves operations that ask for different credentials. */
export function loginFindings(
  refused: readonly BackendAnswer[],
  settings: UpstreamEntry,
  entries: readonly ContractOperation[],
): Finding[] {
  const byEntry = Map.groupBy(refused, ({ asked }) => asked.entry.operation.entry);
  return [...byEntry].flatMap(([name, answers]) => {
    const own = entries.filter(({ operation }) => operation.entry === name);
    return (
      togetherFinding(name, answers, settings, own) ?? answers.map((answer) => loginFinding(answer, settings, own))
    );
  });
}

/** Returns the finding that names one setting for several credentials; undefined if there is none, or it is in force. */
function togetherFinding(
  name: string,
  answers: readonly BackendAnswer[],
  settings: UpstreamEntry,
  own: readonly ContractOperation[],
): Finding[] | undefined {
  const all = credentialForAll(settings, own);
  const lacking = answers.flatMap(({ asked }) => {
    const wanted = credentialAt(settings, asked.entry);
    return wanted === undefined || isSent(settings, wanted) ? [] : [wanted];
  });
  if (all === undefined || lacking.length < answers.length || isSent(settings, all)) return undefined;
  const isCommon = all.fields.length === lacking[0]?.fields.length;
  if (isCommon || (settings.credential && !extendsSent(settings, all))) return undefined;
  const ids = answers.map(({ asked }) => asked.entry.operation.id);
  const statuses = [...new Set(answers.map(({ status }) => status))];
  const asked = [...new Set(lacking.map((one) => one.asked))].join(', or ');
  const says = `${ids.join(', ')}: it refuses the gateway (${statuses.join(', ')}): there it asks for ${asked}, which its entry does not send.`;
  const [verb, preposition] = settings.credential === undefined ? ['Add', 'to'] : ['Write', 'in'];
  const quantity = all.fields.length === 2 ? 'Both headers are' : 'All these headers are';
  const remedy = `${verb} \`credential: ${all.setting}\` ${preposition} upstreams.${name} in upstreams.yaml, with the secret ${all.value}. ${quantity} sent to all operations of the entry.`;
  return [fail('contract', says, remedy)];
}

function loginFinding(
  { asked: { entry: asked }, status }: BackendAnswer,
  settings: UpstreamEntry,
  own: readonly ContractOperation[],
): Finding {
  const { id, entry } = asked.operation;
  const says = `${id}: it refuses the gateway (${status})`;
  const wanted = credentialAt(settings, asked);
  const { credential: sent } = settings;
  const unmet = isRecord(asked.located.value) && unmetRequirement(asked.document.root, asked.located.value);
  if (unmet && wanted === undefined)
    return fail(
      'contract',
      `${says}: by its document it asks for ${unmet}, which the gateway cannot send.`,
      UNSENT_REMEDY,
    );
  const place = `upstreams.${entry} in upstreams.yaml`;
  if (sent === undefined) {
    const line = wanted === undefined ? credentialToAdd(entry) : `\`credential: ${wanted.setting}\` to ${place}`;
    const remedy = `Add ${line}, or have the service believe the assertion.`;
    return fail('contract', `${says}, and its entry sends no credential.`, remedy);
  }
  if (wanted === undefined || isSent(settings, wanted))
    return fail('contract', `${says}.`, `Correct the secret \`${sent.secret}\`, or its account at the service.`);
  const isEnough = extendsSent(settings, wanted) && credentialForAll(settings, own) !== undefined;
  const remedy = isEnough
    ? `Write \`credential: ${wanted.setting}\` in ${place}, which sends all of it.`
    : `An entry sends one value per header: copy the document under another name, list the copy in an entry of its own with \`credential: ${wanted.setting}\`, and set serve: false in each of the two entries for the operations of the other.`;
  return fail('contract', `${says}: there it asks for ${wanted.asked}, which its entry does not send.`, remedy);
}
