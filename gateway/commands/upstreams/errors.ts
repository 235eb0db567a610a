// Checks the error answers of an upstream, provoked by unknown records, wrong parameters and unknown paths.

import { randomInt } from 'node:crypto';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { templateParameters } from '../../contract/operations/routes.ts';
import { toParameter } from '../../contract/parameters/parameter.ts';
import { writtenPathValue } from '../../contract/parameters/path-values.ts';
import { type JsonObject, type LocatedValue, member, memberNames } from '../../contract/pointer.ts';
import type { Schemas } from '../../contract/schemas/schemas.ts';
import { errorFormOf } from '../../upstream/errors/parse-error-body.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { type Backend, type BackendAnswer, type BackendRequest, statusOf } from './backend.ts';
import { collectionOf, createAcceptance } from './plan.ts';

/**
 * @param tried answered requests; the provoking requests are derived from them
 * @param elsewhere the answer to an unknown path
 */
export async function errorsOf(
  backend: Backend,
  tried: readonly BackendAnswer[],
  elsewhere: BackendAnswer,
  schemas: Schemas,
): Promise<Finding[]> {
  const reading = tried.filter(({ asked }) => asked.entry.operation.method === 'GET');
  const singles = reading.filter(({ asked }) => templateParameters(asked.entry.operation.path).length > 0);
  const [typed] = reading.filter(({ asked }) => numberIn(asked.entry) !== undefined);
  const [any] = tried;
  const findings: Finding[] = [];
  if (singles.length > 0) findings.push(await missingOf(backend, singles, reading, schemas));
  if (typed !== undefined) findings.push(misunderstood(await backend.send(mistype(typed.asked))));
  if (any !== undefined) {
    findings.push(unknown(elsewhere));
    findings.push(headerFinding(await backend.send({ ...(reading[0] ?? any).asked, method: 'HEAD' })));
  }
  return findings;
}

function mistype(asked: BackendRequest): BackendRequest {
  const name = encodeURIComponent(numberIn(asked.entry) ?? '');
  const others = asked.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
  return { ...asked, search: `?${[...others, `${name}=not-a-number`].join('&')}` };
}

/** Returns the name of a query parameter for numbers. */
function numberIn({ parameters }: ContractOperation): string | undefined {
  for (const { value } of parameters) {
    const { in: place, name, schema } = value as { in: string; name: string; schema?: { type?: unknown } };
    if (place === 'query' && ['integer', 'number'].includes(String(schema?.type))) return name;
  }
  return undefined;
}

/** Returns the status for clients, and the recognized error form; undefined if the form is unknown. */
function clientMeaning(answered: BackendAnswer): { status: number; form: string | undefined } {
  const { status, headers, body, judgement } = answered;
  if (judgement?.kind === 'refuse' || judgement?.kind === 'repeat')
    return { status: statusOf(answered), form: 'a declared rule' };
  return { status, form: errorFormOf(headers, body) };
}

function formFinding(check: string, what: string, answered: BackendAnswer, wanted: readonly number[]): Finding {
  const { status, form } = clientMeaning(answered);
  const says = `${what} is answered with ${answered.status}`;
  if (!wanted.includes(status)) return fail(check, `${says}.`, `Answer ${wanted.join(' or ')}, or declare a rule.`);
  if (form !== undefined) return ok(check, `${says}, understood as ${form}.`);
  const remedy =
    'Answer JSON: {"error":{"code","message"}}, problem+json, {"message"} or {"error":"…"}; or declare a rule under answers.';
  return fail(check, `${says} in a form that is not understood, so clients lose its words.`, remedy);
}

/** Requests a missing record. @param singles answered requests for single records. The first one whose id can be replaced is used */
async function missingOf(
  backend: Backend,
  singles: readonly BackendAnswer[],
  tried: readonly BackendAnswer[],
  schemas: Schemas,
): Promise<Finding> {
  for (const { asked } of singles) {
    const absent = absentRecord(asked, schemas);
    if (absent !== undefined) return missing(await backend.send(absent), hasRecords(absent, tried));
  }
  return ok('errors', 'What is not there was not tried: the contract allows no id that is sure to be absent.');
}

/** Whether the last parameter of a path stands for a record: its absence is declared, or there is a list of such records. */
function hasRecords({ entry }: BackendRequest, tried: readonly BackendAnswer[]): boolean {
  const { path } = entry.operation;
  const collection = collectionOf(path, templateParameters(path).at(-1) ?? '');
  const declared = memberNames(member(entry.document.root, entry.located, 'responses'));
  return (
    ['404', '410', '4XX'].some((status) => declared.includes(status)) ||
    tried.some(({ asked }) => asked.entry.operation.path === collection)
  );
}

function missing(answered: BackendAnswer, isRecord: boolean): Finding {
  if (answered.problem !== undefined) return silent('What is not there', answered);
  const { id } = answered.asked.entry.operation;
  if (!isRecord && answered.status >= 200 && answered.status < 300)
    return warn(
      'errors',
      `${id} is answered with ${answered.status} for a value that was made up.`,
      'Nothing, if every value is valid. Otherwise answer 404, and declare it in the contract.',
    );
  return formFinding('errors', 'What is not there', answered, [404, 410]);
}

function misunderstood(answered: BackendAnswer): Finding {
  if (answered.problem !== undefined) return silent('A wrong parameter', answered);
  if (answered.status >= 200 && answered.status < 300 && answered.judgement?.kind !== 'refuse') {
    const says = `A wrong parameter is answered with ${answered.status}.`;
    return warn('errors', says, 'Validate parameters in the service, too: requests may arrive without the gateway.');
  }
  return formFinding('errors', 'A wrong parameter', answered, [400, 422]);
}

/** Returns the finding about an unknown path. Clients never see this answer, but it may be a catch-all page, which hides missing paths. */
function unknown(answered: BackendAnswer): Finding {
  if (answered.problem !== undefined) return silent('An unknown path', answered);
  const { status, form } = clientMeaning(answered);
  if ((status >= 400 && status < 500) || (status >= 400 && form === 'a declared rule'))
    return ok('paths', `An unknown path is answered with ${answered.status}, which is taken for an error.`);
  const remedy = 'Answer 404: otherwise what was renamed or forgotten seems to be there.';
  return fail('paths', `An unknown path is answered with ${status}.`, remedy);
}

function headerFinding(answered: BackendAnswer): Finding {
  const { status, problem } = answered;
  if (problem === undefined && status < 500)
    return ok('paths', `HEAD is answered with ${status}; the gateway asks GET instead.`);
  const says = problem === undefined ? `HEAD is answered with ${status}.` : `HEAD is not answered (${problem}).`;
  return warn('paths', says, 'Nothing, as long as only the gateway comes: it asks GET instead.');
}

function silent(what: string, { problem }: BackendAnswer): Finding {
  return fail('errors', `${what} is not answered (${problem}).`, 'See why the service does not answer.');
}

/** Ids of records that probably do not exist: a text, a UUID, the largest integer of 32 bits, and a large integer of nine digits. */
const ABSENT_IDS = ['does-not-exist-0000000000', 'f1e3a7c2-5b0d-4e86-9a41-d07c3b8e52f6', 2_147_483_647, 999_999_937];
/** The minimum number of changed characters. With fewer, the changed id might belong to an existing record. */
const VARIED_MIN = 6;

/**
 * Returns the request for a record that does not exist. The contract must allow its id, because the gateway refuses other ids. Returns
 * undefined if every allowed id may exist. If there are several parameters, the last one that can be replaced is replaced.
 */
function absentRecord(asked: BackendRequest, schemas: Schemas): BackendRequest | undefined {
  const { entry, headers, search } = asked;
  const { accepted } = createAcceptance(entry, schemas);
  const query = search.slice(1);
  const names = templateParameters(entry.operation.path);
  for (let index = names.length - 1; index >= 0; index -= 1) {
    const known = asked.pathValues[index] ?? '';
    for (const id of absentIds(entry, names[index] ?? '', known)) {
      const pathValues = asked.pathValues.with(index, id);
      if (accepted({ pathValues, query, headers }) !== undefined) return { ...asked, pathValues };
    }
  }
  return undefined;
}

function absentIds(entry: ContractOperation, name: string, known: string): string[] {
  const { root } = entry.document;
  const declared = entry.parameters.find((located) => isPathParameter(located, name));
  if (declared === undefined) return [];
  const parameter = toParameter(root, declared);
  return [...ABSENT_IDS.map((id) => writtenPathValue(parameter, id)), ...varyId(known)];
}

function isPathParameter({ value }: LocatedValue, name: string): boolean {
  const parameter = value as JsonObject;
  return parameter.in === 'path' && parameter.name === name;
}

/** Returns ids with other hexadecimal characters at the end, which most patterns allow; none if the end is too short. */
function varyId(known: string): string[] {
  const [end = ''] = /[A-Za-z0-9]*$/.exec(known) ?? [];
  if (end.length < VARIED_MIN) return [];
  const other = end.replace(/./g, (character) =>
    pick(/\d/.test(character) ? '0123456789' : character < 'a' ? 'ABCDEF' : 'abcdef'),
  );
  return [known.slice(0, -end.length) + other];
}

function pick(characters: string): string {
  return characters[randomInt(characters.length)] as string;
}
