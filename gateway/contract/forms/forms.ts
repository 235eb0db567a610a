// Checks the forms that one operation accepts: bodies of application/x-www-form-urlencoded and multipart/form-data. Throws malformed_form,
// json_too_complex, duplicate_json_member, request_too_complex, unsupported_charset, body_too_large and, while a body is sent on,
// validation_failed.

import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../catalogue/errors.ts';
import type { StreamedBodyCheck } from '../../exchange/exchange.ts';
import { essenceOf, MULTIPART, mediaTypeOf, URLENCODED } from '../media-types.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { decodeFormText } from '../parameters/form-text.ts';
import { createValueShapes, type ShapeOf, type ValueShape } from '../parameters/value-shape.ts';
import { child, type JsonObject, member, memberNames } from '../pointer.ts';
import { allowFor, type CheckScope, withinScope } from '../schemas/check-scope.ts';
import type { RequestSchemas } from '../schemas/schemas.ts';
import { toFields, type Violation } from '../violations/violations.ts';
import { type FormContract, type FormLimits, toFormContract } from './form-contract.ts';
import { FormValue } from './form-value.ts';
import { malformedForm } from './malformed.ts';
import { MultipartCheck } from './multipart-check.ts';

/** The check of one kind of form under one declared media type. */
export interface FormCheck {
  /** Returns the violations of a body in one piece. */
  violations(body: Buffer, contentType: string | undefined, limits: FormLimits): Violation[];
  /**
   * Checks a form as it arrives; undefined for a kind of form that is not checked in this way. `keep` is called with the number of bytes
   * that are about to be kept.
   */
  readonly stream: ((contentType: string | undefined, options: StreamOptions) => StreamedBodyCheck) | undefined;
}

interface StreamOptions {
  readonly limits: FormLimits;
  /** The scope that the checks of the request share. */
  readonly scope: CheckScope;
  keep(bytes: number): void;
  /** Called with the violations before they are thrown. */
  onViolations(violations: readonly Violation[]): void;
}

/** Returns the check of a body of this type, under the declared type or range that covers it. */
export type FormChecks = (declared: string, contentType: string | undefined) => FormCheck | undefined;

const shapes = new WeakMap<JsonObject, ShapeOf>();

/** Returns the checks of an operation; undefined if it accepts no form with a described content. */
export function createFormChecks(entry: ContractOperation, schemas: RequestSchemas): FormChecks | undefined {
  const { root } = entry.document;
  const content = member(root, member(root, entry.located, 'requestBody'), 'content');
  const shapeOf = shapes.get(root) ?? createValueShapes(root);
  shapes.set(root, shapeOf);
  const checks = new Map<string, FormCheck>();
  for (const type of memberNames(content)) {
    const declared = mediaTypeOf(type);
    const check = schemas.bodies.get(declared);
    const kinds = [URLENCODED, MULTIPART].filter((kind) => covers(essenceOf(declared), kind));
    if (check === undefined || kinds.length === 0) continue;
    const contract = toFormContract(root, member(root, content, type), check, shapeOf, schemas.objectCheck);
    // Under a range, the schema may describe bytes of any type.
    if (
      !kinds.includes(essenceOf(declared)) &&
      !mayBeForm(contract.shape, child(member(root, content, type), 'schema').value)
    )
      continue;
    for (const kind of kinds)
      checks.set(`${declared} ${kind}`, kind === MULTIPART ? multipart(contract) : createUrlencodedCheck(contract));
  }
  if (checks.size === 0) return undefined;
  return (declared, contentType) =>
    checks.get(`${declared} ${essenceOf(declared.endsWith('*') ? contentType : declared)}`);
}

function covers(declared: string, kind: string): boolean {
  return declared === kind || declared === '*/*' || declared === `${kind.slice(0, kind.indexOf('/'))}/*`;
}

function mayBeForm({ types }: ValueShape, schema: unknown): boolean {
  return schema !== undefined && types.has('object');
}

function createUrlencodedCheck(contract: FormContract): FormCheck {
  return {
    violations(body, _contentType, limits) {
      const form = new FormValue(contract.shape, limits);
      readUrlencoded(body, (name, value) => form.addText(contract.placeOf(name), value));
      return form.violations(contract.check, contract.root);
    },
    stream: undefined,
  };
}

function multipart(contract: FormContract): FormCheck {
  return {
    violations(body, contentType, limits) {
      const check = new MultipartCheck(contract, contentType, limits, () => undefined);
      check.push(body);
      check.end();
      return check.form.violations(contract.check, contract.root);
    },
    stream: (contentType, options) => createStreamedCheck(contract, contentType, options),
  };
}

/** Checks a form as it arrives. Refuses it at the first wrong part, or at the closing delimiter if the whole form is wrong. */
function createStreamedCheck(
  contract: FormContract,
  contentType: string | undefined,
  options: StreamOptions,
): StreamedBodyCheck {
  const check = new MultipartCheck(contract, contentType, options.limits, options.keep);
  let wasClosed = false;

  function refuse(violations: readonly Violation[]): void {
    if (violations.length === 0) return;
    options.onViolations(violations);
    throw new GatewayError('validation_failed', { fields: toFields(violations) });
  }

  return {
    push(chunk) {
      withinScope(options.scope, () => {
        allowFor(0, chunk.length);
        check.push(chunk);
        if (wasClosed) return;
        wasClosed = check.isClosed;
        refuse(wasClosed ? check.form.violations(contract.check, contract.root) : check.form.found);
      });
    },
    end: () => check.end(),
  };
}

/**
 * Reads an application/x-www-form-urlencoded body (WHATWG URL Standard, section 5.1). Calls `onPair` with each decoded name and value.
 * Refuses broken escapes, bytes that are not UTF-8, and a bare semicolon, at which some services split.
 */
function readUrlencoded(body: Buffer, onPair: (name: string, value: string) => void): void {
  if (!isUtf8(body)) throw malformedForm('escape');
  const text = body.toString('utf8');
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('&', start);
    const end = found === -1 ? text.length : found;
    if (end > start) {
      const pair = text.slice(start, end);
      const equals = pair.indexOf('=');
      const name = decodeFormText(equals === -1 ? pair : pair.slice(0, equals));
      const value = equals === -1 ? '' : decodeFormText(pair.slice(equals + 1));
      if (name === undefined || value === undefined) throw malformedForm('escape', offsetOf(text, start));
      if (pair.includes(';')) throw malformedForm('semicolon', offsetOf(text, start));
      onPair(name, value);
    }
    start = end + 1;
  }
}

/** Returns the offset in bytes. */
function offsetOf(text: string, at: number): number {
  return Buffer.byteLength(text.slice(0, at));
}
