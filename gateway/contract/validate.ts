// Stage: validates path, query, headers and body against the contract and reports all violations at once. Keeps the original bytes of
// the body for the upstream. Throws validation_failed, request_too_complex, not_acceptable, idempotency_key_missing,
// idempotency_key_malformed, body_missing and the errors of reading a body.

import { GatewayError } from '../catalogue/errors.ts';
import { extend, type Matched, type Reservation, type Validated } from '../exchange/exchange.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { parseIdempotencyKey } from '../shared/http/idempotency-key.ts';
import { checkAccept } from './accept.ts';
import { type BodyContract, expectBody, isUnexpected, readBody } from './body.ts';
import { createFormChecks, type FormCheck, type FormChecks } from './forms/forms.ts';
import { type JsonLimits, parseJson } from './json.ts';
import { essenceOf, isJson, isOfBytes, mediaTypesOf, successTypes } from './media-types.ts';
import type { ContractOperation } from './operations/operations.ts';
import { createParameterReader, type ParameterReader, type ParameterValues } from './parameters/parameters.ts';
import { isRecord, type JsonObject, member } from './pointer.ts';
import { toNumberViolation } from './scalars/number-literals.ts';
import { allowFor, type CheckScope, createCheckScope, withinScope } from './schemas/check-scope.ts';
import type { RequestSchemas, SchemaCheck, Schemas } from './schemas/schemas.ts';
import { declaredNames, toNotes } from './violations/violation-notes.ts';
import { toBodyViolations, toFields, toViolations, type Violation } from './violations/violations.ts';

interface ValidateOptions extends JsonLimits {
  readonly operations: readonly ContractOperation[];
  readonly schemas: Schemas;
  readonly bodyBytesMax: number;
  /** Counts more buffered bytes of a body. Throws if the memory budget is exceeded. */
  hold(reservation: Reservation, bytes: number): void;
}

/** One operation's contract, prepared for checking requests. */
interface RequestContract {
  readonly root: JsonObject;
  readonly schemas: RequestSchemas;
  readonly reader: ParameterReader;
  readonly body: BodyContract;
  /** The checks of forms; undefined if no form is described. */
  readonly forms: FormChecks | undefined;
  /** Whether the operation only opens a WebSocket, because its successful answers have no content. */
  readonly needsUpgrade: boolean;
  /** Lower-case media types of successful answers. */
  readonly answers: readonly string[];
  /** Returns the declared names. They are computed for the first violation. */
  readonly names: () => ReadonlySet<string>;
}

const UNEXPECTED_BODY: Violation = {
  in: 'body',
  param: '',
  pointer: '',
  code: 'unknown',
  message: 'This operation takes no body.',
};

const MISSING_UPGRADE: Violation = {
  in: 'header',
  param: 'upgrade',
  code: 'required',
  message:
    'This operation opens a WebSocket. Send Upgrade: websocket and Connection: Upgrade, as a WebSocket client does.',
};

/** The violation of an Idempotency-Key on a streamed body. Such a body cannot be compared with the body of an earlier request. */
const STREAM_WITH_KEY: Violation = {
  in: 'header',
  param: 'idempotency-key',
  code: 'not_allowed',
  message: 'A form that is longer than the gateway buffers cannot be repeated. Leave this header out.',
};

/** Leaves out violations of a path parameter whose text could not be read. */
function withoutRepeats(found: readonly Violation[], before: readonly Violation[]): readonly Violation[] {
  const unread = before.filter((one) => one.in === 'path').map(({ param }) => param);
  return unread.length === 0 ? found : found.filter((one) => one.in !== 'path' || !unread.includes(one.param));
}

/** The stage. It needs the findings of `match`, and keeps the members that the stages between the two have added. */
type Validate = <Exchange extends Matched>(matched: Exchange) => Awaitable<Exchange & Validated>;

/** The check of one request, while it is in progress. */
interface RequestCheck<Exchange extends Matched> {
  /** The query to send has already been added. */
  readonly exchange: Exchange & Pick<Validated, 'search'>;
  readonly contract: RequestContract;
  readonly scope: CheckScope;
  /** The violations that were found until now. */
  readonly violations: Violation[];
}

export function createValidate(options: ValidateOptions): Validate {
  const entries = new Map(options.operations.map((entry) => [entry.operation, entry]));
  const contracts = new Map<Operation, RequestContract>();

  function contractOf(operation: Operation): RequestContract {
    const known = contracts.get(operation);
    if (known) return known;
    const made = toRequestContract(entries.get(operation) as ContractOperation, options.schemas);
    contracts.set(operation, made);
    return made;
  }

  return function validate(matched) {
    const { operation, headers } = matched;
    const contract = contractOf(operation);
    const isStreamed = operation.body === 'stream';
    // Accept is checked only if undeclared media types are refused. Otherwise the service may send types that the contract does not
    // declare.
    if (operation.undeclaredMediaTypes === 'refuse') checkAccept(headers.get('accept'), contract.answers);
    // A streamed body is not buffered, so the limit for buffered bodies does not apply.
    const bytesMax = isStreamed ? Number.POSITIVE_INFINITY : options.bodyBytesMax;
    const mediaType = expectBody(matched, contract.body, bytesMax);
    checkIdempotencyKey(matched);

    const check = checkHead(matched, contract);
    if (mediaType === undefined) return pass(check, undefined);
    const form = contract.forms?.(mediaType, headers.get('content-type'));
    if (!isStreamed) return withBody(check, mediaType, form, options);
    if (form === undefined) return pass(check, undefined);
    if (form.stream !== undefined && !isShort(matched, options)) return withStream(check, form, options);
    return withBody(check, mediaType, form, options);
  };
}

/** Begins the check of a request with everything but its body, and adds the query to send. */
function checkHead<Exchange extends Matched>(matched: Exchange, contract: RequestContract): RequestCheck<Exchange> {
  const { operation, headers, query, trail } = matched;
  const violations: Violation[] = [];
  const scope = createCheckScope();
  const values = withinScope(scope, () => readParameters(matched, contract, violations));
  // The map of headers does not contain `Upgrade`, because that is a field of the connection. A handshake is recognized by
  // `Sec-WebSocket-Key`.
  if (contract.needsUpgrade && !headers.has('sec-websocket-key')) violations.push(MISSING_UPGRADE);
  if (isUnexpected(matched, contract.body)) violations.push(UNEXPECTED_BODY);
  const exchange = extend<Exchange, Pick<Validated, 'search'>>(matched);
  exchange.search = contract.reader.search(query, values);
  if (operation.undeclaredQuery === 'drop') trail.note('droppedQuery', contract.reader.droppedNames(query));
  return { exchange, contract, scope, violations };
}

function isShort({ headers }: Matched, { bodyBytesMax }: ValidateOptions): boolean {
  const length = headers.get('content-length');
  return length !== undefined && Number(length) <= bodyBytesMax;
}

/** Passes a form whose body is checked while it is sent to the upstream. */
function withStream<Exchange extends Matched>(
  check: RequestCheck<Exchange>,
  form: FormCheck,
  options: ValidateOptions,
): Exchange & Validated {
  const { exchange, contract, scope, violations } = check;
  if (exchange.operation.idempotency !== 'off' && exchange.headers.has('idempotency-key'))
    violations.push(STREAM_WITH_KEY);
  return {
    ...pass(check, undefined),
    bodyCheck: form.stream?.(exchange.headers.get('content-type'), {
      limits: options,
      scope,
      keep: (bytes) => options.hold(exchange.state, bytes),
      onViolations(found) {
        exchange.trail.violations = toNotes(found, contract.names());
      },
    }),
  };
}

async function withBody<Exchange extends Matched>(
  check: RequestCheck<Exchange>,
  mediaType: string,
  form: FormCheck | undefined,
  options: ValidateOptions,
): Promise<Exchange & Validated> {
  const { exchange, contract, scope, violations } = check;
  // All refusals that need no body are done, so a client that sent `Expect: 100-continue` may now send it (RFC 9110 section 10.1.1).
  if (exchange.headers.has('expect')) exchange.response.writeContinue();
  const rawBody = await readBody(exchange, options.bodyBytesMax, options.hold);
  exchange.trail.bytesIn = rawBody.length;
  const contentType = exchange.headers.get('content-type');
  if (rawBody.length === 0) {
    if (contract.body.required && !isOfBytes(contentType ?? '')) throw new GatewayError('body_missing');
    return pass(check, rawBody);
  }
  const schema = contract.schemas.bodies.get(mediaType);
  withinScope(scope, () => {
    allowFor(0, rawBody.length);
    if (form !== undefined) violations.push(...form.violations(rawBody, contentType, options));
    else if (schema && (isJson(mediaType) || isJson(essenceOf(contentType))))
      violations.push(...jsonViolations(rawBody, schema, contract.root, options));
  });
  return pass(check, rawBody);
}

function readParameters(matched: Matched, contract: RequestContract, violations: Violation[]): ParameterValues {
  const values = contract.reader.read(matched, violations);
  // Each parameter takes at least two characters of the query.
  const errors = contract.schemas.parameters(values, matched.query.length / 2);
  if (errors.length > 0) {
    const found = toViolations(errors, contract.root);
    violations.push(...withoutRepeats(found, violations));
  }
  return values;
}

function jsonViolations(rawBody: Buffer, check: SchemaCheck, root: JsonObject, limits: JsonLimits): Violation[] {
  const { value, size, uncheckable } = parseJson(rawBody, limits);
  if (uncheckable.length > 0) return uncheckable.map(toNumberViolation);
  const errors = check(value, size);
  return errors.length > 0 ? toBodyViolations(errors, root) : [];
}

function pass<Exchange extends Matched>(
  { exchange, contract, violations }: RequestCheck<Exchange>,
  rawBody: Buffer | undefined,
): Exchange & Validated {
  if (violations.length > 0) {
    exchange.trail.violations = toNotes(violations, contract.names());
    throw new GatewayError('validation_failed', { fields: toFields(violations) });
  }
  const checked = extend<typeof exchange, Pick<Validated, 'rawBody'>>(exchange);
  checked.rawBody = rawBody;
  return checked;
}

function toRequestContract(entry: ContractOperation, schemas: Schemas): RequestContract {
  const { root } = entry.document;
  const requestBody = member(root, entry.located, 'requestBody');
  const required = isRecord(requestBody.value) && requestBody.value.required === true;
  const compiled = schemas.request(entry);
  const answers = successTypes(root, entry.located);
  return {
    root,
    schemas: compiled,
    forms: createFormChecks(entry, compiled),
    reader: createParameterReader(entry),
    body: { required, mediaTypes: mediaTypesOf(member(root, requestBody, 'content').value) },
    needsUpgrade: entry.operation.webSocket && answers.length === 0,
    answers,
    names: declaredNames(entry),
  };
}

function checkIdempotencyKey(matched: Matched): void {
  const { idempotency } = matched.operation;
  if (idempotency === 'off') return;
  const key = matched.headers.get('idempotency-key');
  if (key === undefined) {
    if (idempotency === 'required') throw new GatewayError('idempotency_key_missing');
    return;
  }
  if (parseIdempotencyKey(key) === undefined) throw new GatewayError('idempotency_key_malformed');
}
