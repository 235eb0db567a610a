// Stage: path, query, headers and body against the contract, all violations at once. Throws validation_failed and whatever reading
// a body can throw; keeps the original bytes, which are what the upstream gets.

import { GatewayError } from '../errors.ts';
import type { Awaitable, Checked, Counted, Operation } from '../exchange.ts';
import { type BodyContract, expectBody, readBody } from './body.ts';
import { parseJson } from './json.ts';
import type { ContractOperation } from './operations.ts';
import { createParameterReader, type ParameterReader } from './parameters.ts';
import { isObject, member } from './pointer.ts';
import { contentOf, type RequestSchemas, responseFor, type Schemas } from './schemas.ts';
import { toFields, toViolations, type Violation } from './violations.ts';

export interface ValidateOptions {
  readonly operations: readonly ContractOperation[];
  readonly schemas: Schemas;
  readonly bodyBytesMax: number;
  readonly jsonDepthMax: number;
}

/** Everything about one operation that requests are held against. */
interface RequestContract {
  readonly schemas: RequestSchemas;
  readonly reader: ParameterReader;
  readonly body: BodyContract;
  /** Lower-case media types that success is answered with. */
  readonly answers: readonly string[];
}

export function createValidate(options: ValidateOptions): (counted: Counted) => Awaitable<Checked> {
  const entries = new Map(options.operations.map((entry) => [entry.operation, entry]));
  const contracts = new WeakMap<Operation, RequestContract>();

  function contractOf(operation: Operation): RequestContract {
    const known = contracts.get(operation);
    if (known) return known;
    const made = toRequestContract(entries.get(operation) as ContractOperation, options.schemas);
    contracts.set(operation, made);
    return made;
  }

  return function validate(counted) {
    const contract = contractOf(counted.operation);
    checkAccept(counted.headers.get('accept'), contract.answers);
    const hasBody = expectBody(counted, contract.body, options.bodyBytesMax);
    checkIdempotencyKey(counted);

    const violations: Violation[] = [];
    const values = contract.reader.read(counted.pathValues, counted.query, counted.headers, violations);
    if (!contract.schemas.parameters(values)) violations.push(...toViolations(contract.schemas.parameters.errors));
    const search = contract.reader.search(counted.query, values);
    if (!hasBody || counted.operation.body === 'stream') return pass(counted, search, undefined, violations);
    return withBody(counted, contract, search, violations);
  };

  async function withBody(
    counted: Counted,
    contract: RequestContract,
    search: string,
    violations: Violation[],
  ): Promise<Checked> {
    // All refusals that need no body are behind us: a client that asked may send it now (RFC 9110 section 10.1.1).
    if (counted.headers.has('expect')) counted.response.writeContinue();
    const rawBody = await readBody(counted.request, options.bodyBytesMax);
    counted.trail.bytesIn = rawBody.length;
    if (rawBody.length === 0 && contract.body.required) throw new GatewayError('body_missing');
    const check = contract.schemas.body;
    if (check && rawBody.length > 0 && /json/i.test(counted.headers.get('content-type') ?? '')) {
      const value = parseJson(rawBody, options.jsonDepthMax);
      if (!check({ requestBody: value })) violations.push(...toViolations(check.errors));
    }
    return pass(counted, search, rawBody, violations);
  }
}

function pass(
  counted: Counted,
  search: string,
  rawBody: Buffer | undefined,
  violations: readonly Violation[],
): Checked {
  if (violations.length > 0) throw new GatewayError('validation_failed', { fields: toFields(violations) });
  return { ...counted, search, rawBody };
}

function toRequestContract(entry: ContractOperation, schemas: Schemas): RequestContract {
  const { root } = entry.document;
  const requestBody = member(root, entry.located, 'requestBody');
  const declared = contentOf(root, requestBody).value;
  const answered = contentOf(root, responseFor(entry, 200)).value;
  return {
    schemas: schemas.request(entry),
    reader: createParameterReader(entry),
    body: {
      required: isObject(requestBody.value) && requestBody.value.required === true,
      mediaTypes: mediaTypesOf(declared),
    },
    answers: mediaTypesOf(answered),
  };
}

function mediaTypesOf(content: unknown): string[] {
  return Object.keys(isObject(content) ? content : {}).map((type) =>
    (type.split(';')[0] as string).trim().toLowerCase(),
  );
}

/** 406 only when Accept rules out everything there is; `*` ranges and weights above 0 let it in (RFC 9110 section 12.5.1). */
function checkAccept(accept: string | undefined, answers: readonly string[]): void {
  if (accept === undefined || accept === '*/*' || accept === 'application/json' || answers.length === 0) return;
  const ranges = accept
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()));
  const admits = ranges.some(([range = '', ...parameters]) => {
    if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) return false;
    const prefix = range.endsWith('/*') ? range.slice(0, -1) : undefined;
    return answers.some(
      (type) => range === '*/*' || range === '' || range === type || (prefix !== undefined && type.startsWith(prefix)),
    );
  });
  if (!admits) throw new GatewayError('not_acceptable', { fields: { available_media_types: answers } });
}

/** Draft idempotency-key-header-07: a quoted string; the bare form that most clients send is taken as well. */
function checkIdempotencyKey(counted: Counted): void {
  const { idempotency } = counted.operation;
  if (idempotency === 'off') return;
  const key = counted.headers.get('idempotency-key');
  if (key === undefined) {
    if (idempotency === 'required') throw new GatewayError('idempotency_key_missing');
    return;
  }
  const bare = /^"(.*)"$/.exec(key)?.[1] ?? key;
  if (!/^[\x21-\x7e]{1,255}$/.test(bare)) throw new GatewayError('idempotency_key_malformed');
}
